//go:build linux && faults

package main

// killing has the calls that change files or start and end processes, each one of them.
var killing = kills{[]string{
	"renameat", "fsync", "write", "unlinkat", "mkdirat", "fcntl", "clone", "pipe2", "waitid", "exit_group",
}, 1, 7}
