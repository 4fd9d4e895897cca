//go:build linux

// Launch runs a command and writes the peak of its memory, in kilobytes, to standard error. It is a small program of
// its own because Linux adds the memory of the process that starts another one to the peak of that other one.
package main

import (
	"fmt"
	"os"
	"syscall"
)

func main() {
	p, err := os.StartProcess(os.Args[1], os.Args[1:], &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	var state *os.ProcessState
	if err == nil {
		state, err = p.Wait()
	}
	if err != nil || !state.Success() {
		fmt.Fprintln(os.Stderr, "launch: error:", err, state)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, state.SysUsage().(*syscall.Rusage).Maxrss)
}
