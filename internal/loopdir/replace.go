package loopdir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Replace sets the content of the file name in root, whole or not at all. nil
// means that it is on stable storage; after an error the file is the old or
// the new one. A file that exists keeps its mode, but for ours alone, of
// perm 0600; a new one gets perm. Only a regular file is replaced.
func Replace(root *os.Root, name string, data []byte, perm os.FileMode) error {
	return replace(root, name, data, perm, false, nil)
}

// replace is Replace; under the loop's lock all that is swept is garbage. The last
// word before the rename is last's, if that is not nil.
func replace(root *os.Root, name string, data []byte, perm os.FileMode, locked bool, last func() error) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	age := abandoned
	if locked {
		age = 0
	}
	sweep(root, d, name, age)
	if err := regular(root, name); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := rename(root, name, data, perm, last); err != nil {
		if locked {
			sweep(root, d, name, 0) // renameio leaves its file where it cannot look at it
		}
		return fmt.Errorf("%s: %w", filepath.Join(root.Name(), name), bare(err))
	}
	return syncDir(d)
}

// bare takes the name of the temporary file out of an error: it is another one
// each time, and nobody knows it.
func bare(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	if link := (*os.LinkError)(nil); errors.As(err, &link) {
		return link.Err
	}
	return err
}

// abandoned is how long nobody has written a temporary file that is garbage for
// certain: a write takes a moment.
const abandoned = time.Minute

// Sweep removes what a killed process left of the file name in root, or of any where
// name is empty; no lock says whether somebody still writes it.
func Sweep(root *os.Root, name string) {
	if d, err := root.Open("."); err == nil {
		sweep(root, d, name, abandoned)
		d.Close()
	}
}

// tempDigits is how many digits at least end the name of a temporary file, which is
// a random number of 63 bits. Those of a person's file may be a date and a time.
const tempDigits = 15

const decimal = "0123456789"

// sweep removes temporary files that a killed process left of the file name, if
// they are of that age; of any where it is 0, as under the lock, whatever the clock.
func sweep(root *os.Root, d *os.File, name string, age time.Duration) {
	_, _ = d.Seek(0, io.SeekStart)
	names, _ := d.Readdirnames(-1) // what is not seen is swept at the next stop
	for _, n := range names {
		if !temporary(n, name) {
			continue
		}
		if info, err := root.Lstat(n); err == nil && info.Mode().IsRegular() && (age == 0 || time.Since(info.ModTime()) >= age) {
			_ = root.Remove(n)
		}
	}
}

// temporary tells whether n is the name of a temporary file of the file name, or of
// any where that is empty.
func temporary(n, name string) bool {
	digits, ours := strings.CutPrefix(n, "."+name)
	if name == "" {
		digits = digits[len(strings.TrimRight(digits, decimal)):]
	}
	return ours && len(digits) >= tempDigits && strings.Trim(digits, decimal) == ""
}

// Leftovers are the temporary files in the loop's folders. Under the lock no
// process is at work at them. In the loop folder a person may have files of such names.
func (s *Store) Leftovers() (paths []string) {
	find := func(root *os.Root, names ...string) {
		if root == nil {
			return
		}
		entries, _ := os.ReadDir(root.Name()) // what cannot be read is left alone
		for _, entry := range entries {
			ours := func(name string) bool { return temporary(entry.Name(), name) }
			if entry.Type().IsRegular() && slices.ContainsFunc(names, ours) {
				paths = append(paths, filepath.Join(root.Name(), entry.Name()))
			}
		}
	}
	find(s.loop, ListFile, ProgressFile, PromptFile, ConfigFile, HookLog, IterationLog, ChecksLog, IgnoreFile, backupFile)
	find(s.state, "")
	return paths
}
