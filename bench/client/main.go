//go:build linux

// Client starts a server of MCP, sends it what standard input has, and prints its answer to the request 2. Then it ends
// the server, as a client does: by closing its input.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

func main() {
	if err := ask(exec.Command(os.Args[1], os.Args[2:]...)); err != nil {
		fmt.Fprintln(os.Stderr, "client: error:", err)
		os.Exit(1)
	}
}

func ask(server *exec.Cmd) error {
	server.Stderr = os.Stderr
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
	_, sent := io.Copy(in, os.Stdin)
	answer, err := second(out)
	if err == nil {
		_, err = os.Stdout.Write(answer)
	}
	return errors.Join(err, sent, in.Close(), server.Wait())
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
