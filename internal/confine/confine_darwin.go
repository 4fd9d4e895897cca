package confine

import (
	"os"
	"syscall"
)

const sandboxExec = "/usr/bin/sandbox-exec"

// Available returns an error if this system cannot confine a program.
func Available() error {
	_, err := os.Stat(sandboxExec)
	return err
}

// Exec makes this process the program at path, which can write below the folders and
// nowhere else. The folders must have no links in their paths. It returns only after an
// error.
func Exec(folders []string, path string, argv, env []string) error {
	args := seatbelt(folders, append([]string{path}, argv[1:]...))
	return &os.PathError{Op: "exec", Path: sandboxExec, Err: syscall.Exec(sandboxExec, args, env)}
}
