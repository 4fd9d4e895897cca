package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// Output is where verbs print. It remembers the error of a write that failed.
type Output struct {
	io.Writer
	Err error
}

// Write writes to the writer.
func (o *Output) Write(p []byte) (n int, err error) {
	n, err = o.Writer.Write(p)
	if err != nil {
		o.Err = err
	}
	return n, err
}

// Failed returns the error of a command that has printed to o: its own, or that of the output. A reader who closes
// a pipe has read enough: that is no failure to report.
func (o *Output) Failed(err error) error {
	switch {
	case errors.Is(o.Err, syscall.EPIPE) && (err == nil || errors.Is(err, o.Err)):
		return &Exit{Code: 128 + int(syscall.SIGPIPE)} // as shells have it
	case err == nil && o.Err != nil:
		return fmt.Errorf("not all was printed: %w", o.Err)
	}
	return err
}

// JSON prints a value, indented, for machines.
func JSON(w io.Writer, v any) error {
	text, err := jsontext.ForPrograms(v)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// CanAsk reports whether there is a terminal at which a person can answer.
func CanAsk() bool { return term.IsTerminal(int(os.Stdin.Fd())) }

// Confirm asks a person who was shown what is to be done; no says what a no means.
func Confirm(w io.Writer, question, no string) error {
	if !CanAsk() {
		return errors.New("there is no terminal to ask at; look at what is listed and run it again with --yes")
	}
	if a := ask(w, question+" [y/N]"); a != "y" && a != "yes" {
		return Refusal(no)
	}
	return nil
}

// Refusal is the error of a person's no.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Choose asks a person for one of several things.
func Choose(w io.Writer, question string, of []string) (string, error) {
	for n, one := range of {
		fmt.Fprintf(w, "  %d  %s\n", n+1, one)
	}
	n, err := strconv.Atoi(ask(w, fmt.Sprintf("%s [1-%d]", question, len(of))))
	if err != nil || n < 1 || n > len(of) {
		return "", errors.New("nothing was chosen, and nothing was done")
	}
	return of[n-1], nil
}

// ask returns a person's answer, in lower case.
func ask(w io.Writer, question string) string { return strings.ToLower(Ask(w, question)) }

// Ask returns a person's answer.
func Ask(w io.Writer, question string) string {
	fmt.Fprintf(w, "%s ", question)
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	return strings.TrimSpace(answer)
}
