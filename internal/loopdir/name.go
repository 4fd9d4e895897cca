package loopdir

import (
	"fmt"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// ValidSession reports whether a session id is safe as the name of a file. The host's ids
// are UUIDs. An id with other characters could be a path out of the folder, and one that
// begins with "-" a flag.
func ValidSession(id string) bool {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	return id != "" && id[0] != '-' && len(id) <= 128 && strings.Trim(id, safe) == ""
}

// checkFolder refuses the name of a folder that is no loop, since advice and verbs would
// have the name: one that is read as a flag, or that does not show what it is.
func checkFolder(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
		return fmt.Errorf("%q is not a name for a loop", name)
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("the name \"%s\" begins with '-'", plain.Visible(name))
	case plain.Visible(name) != name:
		return fmt.Errorf("the name \"%s\" has control characters, or others that do not show", plain.Visible(name))
	}
	return nil
}

// CheckName refuses a name that cannot be the name of a loop folder on every system.
func CheckName(name string) error {
	if err := checkFolder(name); err != nil {
		return err
	}
	switch {
	case len(name) > 100:
		return fmt.Errorf("the name %.20q… is longer than 100 bytes", name)
	case name == current:
		return fmt.Errorf("the name %q is taken: it points at the loop in use", name)
	case strings.ContainsAny(name, `/\:*?"<>|`), strings.HasSuffix(name, "."),
		strings.TrimSpace(name) != name, strings.Contains(name, ".."):
		return fmt.Errorf("the name %q has characters that a folder cannot have on every system", name)
	}
	return nil
}
