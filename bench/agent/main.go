// Agent stands in for Claude Code and takes no time. It reads a prompt on standard input, lets one feature of the list
// pass, the one that the prompt names or else the first open one, and prints a result as Claude Code prints it.
//
//	agent LIST                    one session
//	agent LIST -times N PROMPT    N sessions, one after the other, each a process with that file as its prompt
//	agent LIST -work TIME         one session that takes that time, and writes when it began into a file
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "agent: error:", err)
		os.Exit(1)
	}
}

func run(list string, args []string) error {
	if len(args) == 3 && args[0] == "-times" {
		return sessions(list, args[1], args[2])
	}
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if len(args) == 2 && args[0] == "-work" {
		if err := work(args[1], prompt); err != nil {
			return err
		}
	}
	if err := pass(list, prompt); err != nil {
		return err
	}
	_, err = fmt.Println(`{"type":"result","subtype":"success","is_error":false,"result":"Done.","total_cost_usd":0.01,` +
		`"modelUsage":{"m":{"inputTokens":1000,"outputTokens":500}}}`)
	return err
}

// pass lets a feature pass. In the list, a value of "passes" takes five bytes.
func pass(list string, prompt []byte) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	at := 0
	if id := feature(prompt); id != nil {
		at = bytes.Index(text, fmt.Appendf(nil, "%q", id))
		if at < 0 {
			return fmt.Errorf("the list has no %s", id)
		}
	}
	open := bytes.Index(text[at:], []byte(`"passes": false`))
	if open < 0 {
		return nil // there is nothing to do
	}
	f, err := os.OpenFile(list, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte("true "), int64(at+open+len(`"passes": `)))
	if err == nil {
		err = f.Close()
	}
	return err
}

// feature returns the id of the feature that a prompt names; nil: it names none.
func feature(prompt []byte) []byte {
	_, rest, _ := bytes.Cut(prompt, []byte("\n  id: "))
	id, _, named := bytes.Cut(rest, []byte("\n"))
	if !named {
		return nil
	}
	return id
}

// work takes a while, and writes a file for the feature, with the time when it began.
func work(long string, prompt []byte) error {
	d, err := time.ParseDuration(long)
	if err != nil {
		return err
	}
	begin := time.Now().Format(time.RFC3339Nano)
	time.Sleep(d)
	return os.WriteFile(string(feature(prompt))+".txt", []byte(begin), 0o644)
}

// sessions starts sessions and waits for each.
func sessions(list, count, prompt string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for range n {
		stdin, err := os.Open(prompt)
		if err != nil {
			return err
		}
		p, err := os.StartProcess(os.Args[0], []string{os.Args[0], list},
			&os.ProcAttr{Files: []*os.File{stdin, os.Stdout, os.Stderr}})
		if err != nil {
			return err
		}
		stdin.Close()
		if state, err := p.Wait(); err != nil || !state.Success() {
			return fmt.Errorf("%v: %w", state, err)
		}
	}
	return nil
}
