//go:build unix

package main

import (
	"os"
	"syscall"
)

// exitWith2 are the signals, beside SIGQUIT and SIGABRT, at which Go exits with 2 if
// another process sends them (runtime/sigtab_*.go: those that throw or panic).
var exitWith2 = []os.Signal{
	syscall.SIGILL, syscall.SIGTRAP, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGSYS,
	syscall.Signal(16), // SIGSTKFLT of Linux; SIGURG elsewhere, which Go uses itself and does not end at
}
