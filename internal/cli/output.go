package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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

// JSON prints a value, indented, for machines.
func JSON(w io.Writer, v any) error {
	text, err := jsontext.Indent(v)
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
	fmt.Fprintf(w, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New(no)
	}
	return nil
}
