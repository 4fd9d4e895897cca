//go:build !linux && !darwin

package confine

import "errors"

// Available returns an error: this system cannot confine a program.
func Available() error {
	return errors.New(`this system cannot do what "confine" asks for; Linux and macOS can`)
}

// Exec returns an error.
func Exec([]string, string, []string, []string) error { return Available() }
