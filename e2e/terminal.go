//go:build e2e

package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

const (
	// screenDeadline is how long the screen may take to show what it should.
	// That takes seconds on a loaded machine.
	screenDeadline = 60 * time.Second
	// screenPoll is short beside what the client takes for anything.
	screenPoll = 50 * time.Millisecond
	// The client wraps and drops what does not fit, and scripts look for lines.
	screenWidth, screenHeight = "160", "80"
)

var (
	// emptyInput is the line a person types in, with nothing typed. The client
	// shows it while it works, too.
	emptyInput = regexp.MustCompile(`(?m)^❯$`)
	// ended is what screen puts above the screen of a client that has ended.
	ended = regexp.MustCompile(`^\(ended\)\n`)
)

// pictures is where a run of the script picture leaves what it saw.
var pictures = flag.String("pictures", "", "write what pictures are drawn of into this `folder`")

// terminal is the client as a person uses it, in a tmux of the script's own.
type terminal struct{ socket string }

// cmdTerminal is the command terminal of the scripts:
//
//	terminal start [PROMPT | -file FILE] [FLAG…]
//	terminal run PROGRAM [ARG…]
//	terminal type TEXT        a line, then Enter
//	terminal paste FILE       what a person has copied, then Enter
//	terminal press KEY        Escape, C-c and the like, as tmux calls them
//	terminal shows REGEXP     waits until the screen does; with !, until it no
//	                          longer does
//	terminal resize X Y       makes it so many columns wide and lines high
//	terminal picture NAME     leaves the screen, colours included, for make picture
//	terminal screen           makes the screen the standard output
//	terminal quit             waits until the client has ended
//	terminal close            as a person closes the window
func cmdTerminal(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || neg && args[0] != "shows" {
		args = []string{"help"}
	}
	t := terminal{socket: filepath.Join(ts.Getenv("WORK"), "tmux")}
	text := strings.Join(args[1:], " ")
	switch args[0] {
	case "start":
		args, err := clientArgs(args[1:])
		ts.Check(err)
		t.open(ts, append([]string{ts.Getenv("E2E_CLIENT")}, args...))
	case "run":
		t.open(ts, args[1:])
	case "type":
		ts.Check(t.enter(regexp.QuoteMeta(text), "send-keys", "-l", "--", text))
	case "paste":
		ts.Check(t.enter(`\[Pasted text`, "load-buffer", ts.MkAbs(text), ";", "paste-buffer", "-p"))
	case "press":
		_, err := t.tmux("send-keys", "--", text)
		ts.Check(err)
	case "shows":
		re, err := regexp.Compile("(?m)" + text) // as stdout and grep have it
		ts.Check(err)
		ts.Check(t.await(re, !neg))
	case "resize":
		_, err := t.tmux("resize-window", "-x", args[1], "-y", args[2])
		ts.Check(err)
	case "picture":
		screen, err := t.tmux("capture-pane", "-e", "-p")
		ts.Check(err)
		ts.Check(keep(ts, args[1], screen))
	case "screen":
		screen, err := t.screen()
		ts.Check(err)
		fmt.Fprint(ts.Stdout(), screen)
	case "quit":
		ts.Check(t.enter("/exit", "send-keys", "-l", "--", "/exit"))
		ts.Check(t.await(ended, true))
	case "close":
		ts.Check(t.close())
	default:
		ts.Fatalf("usage: terminal start [PROMPT | -file FILE] [FLAG…] | run PROGRAM [ARG…] | type TEXT | paste FILE | " +
			"press KEY | shows REGEXP | resize X Y | picture NAME | screen | quit | close")
	}
}

// open starts a program in the terminal. A program that ends leaves its last screen to be looked at.
func (t terminal) open(ts *testscript.TestScript, program []string) {
	ts.Defer(t.kill)
	// The server inherits the script's environment, and the program the server's.
	ts.Check(ts.Exec("tmux", append([]string{"-u", "-S", t.socket, "-f", "/dev/null",
		"start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";",
		"new-session", "-d", "-x", screenWidth, "-y", screenHeight, "--"}, program...)...))
}

// cmdPicture is the command picture of the scripts, which leaves a file's text
// for make picture: picture NAME FILE.
func cmdPicture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: picture NAME FILE")
	}
	ts.Check(keep(ts, args[0], ts.ReadFile(args[1])))
}

// keep writes what a picture is to be drawn of, where that is asked for. The
// script's folder, which is another one each time, is shown as a home.
func keep(ts *testscript.TestScript, name, text string) error {
	if *pictures == "" {
		return nil
	}
	text = strings.Trim(strings.ReplaceAll(text, ts.Getenv("WORK"), "~"), " \n") + "\n"
	return os.WriteFile(filepath.Join(*pictures, name+".txt"), []byte(text), 0o644)
}

// enter gives the client some input by a command of tmux, and presses Enter
// when the input line shows it: text and Enter that come at once are taken for
// something pasted, which may have more lines.
func (t terminal) enter(shown string, input ...string) error {
	err := t.await(emptyInput, true)
	if err == nil {
		_, err = t.tmux(input...)
	}
	if err == nil {
		err = t.await(regexp.MustCompile(`(?m)^❯ `+shown), true)
	}
	if err == nil {
		_, err = t.tmux("send-keys", "Enter")
	}
	return err
}

// await waits until the screen matches, or no longer does, as long as the
// client runs.
func (t terminal) await(re *regexp.Regexp, match bool) error {
	for end := time.Now().Add(screenDeadline); ; time.Sleep(screenPoll) {
		screen, err := t.screen()
		if err != nil || re.MatchString(screen) == match {
			return err
		}
		if time.Now().After(end) || ended.MatchString(screen) {
			verb := "does not show"
			if !match {
				verb = "still shows"
			}
			return fmt.Errorf("the screen %s %q:\n%s", verb, re, screen)
		}
	}
}

// screen returns what is on the screen, without the blanks at the ends of lines.
// Whether the client has ended is asked for, for tmux does not always show it.
func (t terminal) screen() (string, error) {
	out, err := t.tmux("display-message", "-p", "(#{?pane_dead,ended,running})", ";", "capture-pane", "-p")
	lines := strings.Split(strings.ReplaceAll(out, "\u00a0", " "), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n", err
}

// close ends the terminal, and waits until it is gone: another one may take its place.
func (t terminal) close() error {
	_, err := t.tmux("kill-server")
	if err != nil {
		return err
	}
	for end := time.Now().Add(screenDeadline); time.Now().Before(end); time.Sleep(screenPoll) {
		if _, err := t.tmux("list-sessions"); err != nil {
			return nil
		}
	}
	return errors.New("the terminal does not end")
}

// kill ends what still runs. The client is told first, which lets it stop the
// commands of its tools: those have process groups of their own.
func (t terminal) kill() {
	out, err := t.tmux("display-message", "-p", "#{?pane_dead,,#{pane_pid}}")
	if err != nil {
		return // there is none
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(out)); err == nil {
		syscall.Kill(pid, syscall.SIGTERM)
		t.await(ended, true)
		syscall.Kill(-pid, syscall.SIGKILL)
	}
	t.tmux("kill-server")
}

// tmux runs a command of tmux, and returns its output.
func (t terminal) tmux(args ...string) (string, error) {
	out, err := exec.Command("tmux", append([]string{"-u", "-S", t.socket}, args...)...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), err
}
