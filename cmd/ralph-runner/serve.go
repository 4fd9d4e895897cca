package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/page"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// server is what the command line of serve says.
type server struct {
	verbs
	port                    int
	control, open, newToken bool
}

func (v verbs) serve() *cobra.Command {
	s := &server{verbs: v}
	cmd := &cobra.Command{
		Use: "serve [FOLDER]...", Short: "Show all loops and runs as a web page on this machine", Long: serveHelp,
		RunE: cli.Run(s.run),
	}
	cmd.Flags().IntVar(&s.port, "port", 0, "listen at port `N`; 0 is a free one")
	cmd.Flags().BoolVar(&s.control, "control", false, "let the page pause, resume, extend and cancel loops")
	cmd.Flags().BoolVar(&s.open, "open", false, "open the page in the browser")
	cmd.Flags().BoolVar(&s.newToken, "new-token", false, "make a new token; old addresses stop working")
	return cmd
}

const serveHelp = `Show all loops and runs of this user as a web page, live. FOLDER is a project whose loops
have not started yet. Only this machine reaches the page, and only with the printed address,
which has a token. With --control each start makes a new token and writes it to no file:
whoever has the token may change loops, and agents can read files.`

func (s *server) run(w io.Writer, folders []string) error {
	if s.port < 0 || s.port > 65535 {
		return cli.Usagef("--port must be from 0 to 65535")
	}
	switch {
	case s.control && s.newToken:
		return cli.Usagef("--control and --new-token do not go together: with --control each start has a new token")
	case s.control && s.open:
		return cli.Usagef("--control and --open do not go together: the browser would get the address by a file, " +
			"which an agent can read; open the printed address yourself")
	}
	for i, name := range folders {
		dir, err := folder(name)
		if err != nil {
			return err
		}
		folders[i] = dir
	}
	ctx, stop := boot.Catch(context.Background())
	defer stop()
	env := s.Env
	env.Anywhere = true
	watcher, err := watch.New(env, folders...)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
	if err != nil {
		return fmt.Errorf("%w; say another --port", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	token, err := s.token()
	if err != nil {
		return err
	}
	p := &page.Server{Env: env, Watcher: watcher, Token: token, Control: s.control}
	handler, err := p.Handler(port)
	if err != nil {
		return err
	}
	go watcher.Run(ctx)
	address := fmt.Sprintf("http://127.0.0.1:%d/%s/", port, p.Token)
	if _, err := fmt.Fprintln(w, address); err != nil {
		return err
	}
	if s.open {
		done, err := openPage(address)
		if err != nil {
			fmt.Fprintf(w, "no browser could be started (%v); open the address yourself\n", err)
		}
		defer done()
	}
	return listen(ctx, listener, handler)
}

// token returns the token that a request must have. A token that lets its owner change loops is in no file, because an
// agent can read every file of this user.
func (s *server) token() (string, error) {
	if s.control {
		return rand.Text(), nil
	}
	return page.Token(s.Env.StateDir, s.newToken)
}

// listen serves until ctx ends.
func listen(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := context.AfterFunc(ctx, func() { server.Close() })
	defer ended()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// openPage opens an address in the person's browser. Other users see the words of a command, so the browser gets a file
// that only this user reads, and that sends it to the address. done removes the file.
func openPage(address string) (done func(), err error) {
	file, err := os.CreateTemp("", "ralph-*.html") // with the mode 0600
	if err != nil {
		return func() {}, err
	}
	done = func() { os.Remove(file.Name()) }
	_, err = fmt.Fprintf(file, `<!DOCTYPE html><meta http-equiv="refresh" content="0; url=%s"><title>ralph</title>`+"\n",
		html.EscapeString(address))
	if err := errors.Join(err, file.Close()); err != nil {
		return done, err
	}
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	browser := exec.Command(command[0], append(command[1:], file.Name())...)
	if err := browser.Start(); err != nil {
		return done, err
	}
	go func() { _ = browser.Wait() }()
	return done, nil
}
