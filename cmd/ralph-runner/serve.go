package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
	port              int
	control, newToken bool
}

func (v verbs) serve() *cobra.Command {
	s := &server{verbs: v}
	cmd := &cobra.Command{
		Use: "serve [FOLDER]...", Short: "Show all loops and runs as a web page on this machine", Long: serveHelp,
		RunE: cli.Run(s.run),
	}
	cmd.Flags().IntVar(&s.port, "port", 0, "listen at port `N`; 0 is a free one")
	cmd.Flags().BoolVar(&s.control, "control", false, "let the page pause, resume and cancel loops")
	cmd.Flags().BoolVar(&s.newToken, "new-token", false, "create a new token; old addresses stop working")
	return cmd
}

const serveHelp = `Show all your loops and runs as a web page, live. FOLDER is a project whose loops have not
started yet. Only this machine can open the page, with the printed address.`

func (s *server) run(w io.Writer, folders []string) error {
	if s.port < 0 || s.port > 65535 {
		return cli.Usagef("--port must be from 0 to 65535")
	}
	if s.control && s.newToken {
		return cli.Usagef("--control and --new-token do not go together: with --control each start has a new token")
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
