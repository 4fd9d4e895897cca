//go:build linux

// Launch runs a command and writes the peak of its resident memory, in kilobytes,
// to file descriptor 3. It is a program of its own because Linux counts in what
// the process that starts another one has in memory until the other begins: the
// benchmark, which holds whole lists, would see itself.
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
	if err == nil && state.Success() {
		_, err = fmt.Fprintln(os.NewFile(3, "peak"), state.SysUsage().(*syscall.Rusage).Maxrss)
	}
	if err != nil || !state.Success() {
		fmt.Fprintln(os.Stderr, "launch: error:", err, state)
		os.Exit(1)
	}
}
