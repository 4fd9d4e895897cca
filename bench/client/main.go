//go:build linux

// Client starts a server of MCP, sends it what standard input has, and prints its answer to the request 2. Then it ends
// the server, as a client does: by closing its input. A server that hangs is killed, and the client says where it hung.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// patience is how long a server may take. It takes milliseconds; one that takes this long hangs.
const patience = 30 * time.Second

func main() {
	if err := ask(os.Stdin, os.Stdout, exec.Command(os.Args[1], os.Args[2:]...), patience); err != nil {
		fmt.Fprintln(os.Stderr, "client: error:", err)
		os.Exit(1)
	}
}

// ask asks the server what question has, and copies its answer.
func ask(question io.Reader, answer io.Writer, server *exec.Cmd, patience time.Duration) error {
	server.Stderr = os.Stderr
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that nothing that it started keeps its output open
	in, err := server.StdinPipe()
	if err != nil {
		return err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	var doing, hung atomic.Value
	doing.Store("it did not read the question")
	late := time.AfterFunc(patience, func() {
		hung.Store(doing.Load())
		_ = syscall.Kill(-server.Process.Pid, syscall.SIGKILL)
	})
	defer late.Stop()
	_, sent := io.Copy(in, question)
	doing.Store("it did not answer the request 2")
	line, err := second(out)
	if err == nil {
		_, err = answer.Write(line)
	}
	doing.Store("it did not end when its input was closed")
	err = errors.Join(err, sent, in.Close(), server.Wait())
	if what := hung.Load(); what != nil {
		return fmt.Errorf("%s hung: %s within %v", server.Path, what, patience)
	}
	return err
}

// second returns the answer to the request 2.
func second(out io.Reader) ([]byte, error) {
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil || bytes.Contains(line, []byte(`"id":2`)) {
			return line, err
		}
	}
}
