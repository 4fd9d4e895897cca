//go:build linux || darwin

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func init() { commands["terminal"] = func() { os.Exit(terminal(os.Args[1:])) } }

// terminalEnd is written to the terminal when the program has ended: what comes before it is all that it has written.
// testscript's ttyout closes the terminal instead, and loses what it has not read by then.
const terminalEnd = "\x00end\x00"

// terminal runs a program whose standard output is a terminal, and prints what arrives there: terminal COLUMNS
// PROGRAM [ARGUMENT]…; 0 columns: the terminal does not know its width.
func terminal(args []string) int {
	columns, err := strconv.Atoi(args[0])
	if err != nil {
		return failed(err)
	}
	screen, tty, err := openTerminal()
	if err != nil {
		return failed(err)
	}
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns)}); err != nil {
		return failed(err)
	}

	shown := make(chan []byte)
	go func() {
		var text []byte
		part := make([]byte, 4096)
		for !bytes.HasSuffix(text, []byte(terminalEnd)) {
			n, err := screen.Read(part)
			if err != nil {
				break
			}
			text = append(text, part[:n]...)
		}
		shown <- bytes.TrimSuffix(text, []byte(terminalEnd))
	}()
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdout, cmd.Stderr = tty, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	ended := cmd.Run()
	if _, err := tty.WriteString(terminalEnd); err != nil {
		return failed(err)
	}
	if _, err := os.Stdout.Write(<-shown); err != nil {
		return failed(err)
	}
	if ended != nil {
		return failed(ended)
	}
	return 0
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 99
}

// openTerminal makes a terminal. What is written to tty can be read from screen.
func openTerminal() (screen, tty *os.File, err error) {
	screen, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	name, err := ttyName(screen)
	if err != nil {
		return nil, nil, err
	}
	tty, err = os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	return screen, tty, err
}
