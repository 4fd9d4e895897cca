//go:build !unix

package mcp

import "os"

// takers put something else in the place of a file. secret is a file that a link may name.
func takers(secret string) map[string]func(path string) error {
	return map[string]func(path string) error{
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":   func(path string) error { return os.Symlink(secret, path) },
	}
}
