//go:build !linux && !darwin

package confine

import "errors"

// Available returns an error: this system cannot confine a program.
func Available() error {
	return errors.New(`"confine" needs Linux or macOS`)
}

// Exec returns an error.
func Exec([]string, string, []string, []string) error { return Available() }
