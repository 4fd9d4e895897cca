package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

const preparedFile = "prepared.json"

// Prepared is what commands have done in the copy that prepare it.
type Prepared struct {
	Inputs map[string]string // hashes, by command
	Made   []string          // what they made and git ignores, from the top on
	Stamp  string            // of all that is in there
}

// Inputs returns a hash of the files that the copy is to have and that match.
func (l *Look) Inputs(match func(name string) bool) string {
	h := newHash()
	for _, f := range l.want {
		if match(f.Path) {
			fmt.Fprintf(h, "%q %v %s\n", f.Path, f.runs(), f.Hash)
		}
	}
	return sumOf(h)
}

// Prepared returns what SetPrepared stored, unless the copy was made again since.
func (p Place) Prepared() (done Prepared) {
	text, err := os.ReadFile(filepath.Join(p.Store, p.named(preparedFile)))
	if err == nil {
		_ = json.Unmarshal(text, &done)
	}
	return done
}

// AsPrepared reports whether all that was made is as it was then. Only caches may differ.
func (p Place) AsPrepared(done Prepared) bool { return done.Stamp == p.stamp(done.Made) }

// SetPrepared stores what was done in the copy. before is what was hidden there before.
func (p Place) SetPrepared(ctx context.Context, c Contents, inputs map[string]string, before []string) {
	done := Prepared{Inputs: inputs}
	for _, name := range p.Hidden(ctx, c) {
		if !slices.Contains(before, name) {
			done.Made = append(done.Made, name)
		}
	}
	done.Stamp = p.stamp(done.Made)
	text, err := json.Marshal(done)
	if err == nil {
		_ = p.write(p.named(preparedFile), text)
	}
}

// Unprepare removes what was made.
func (p Place) Unprepare() error {
	var all error
	for _, name := range p.Prepared().Made {
		all = errors.Join(all, loopdir.RemoveAll(filepath.Join(p.Copy, filepath.FromSlash(name))))
	}
	err := os.Remove(filepath.Join(p.Store, p.named(preparedFile)))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(all, err)
}

// Hidden returns what is in the copy and git ignores, without what is below that.
func (p Place) Hidden(ctx context.Context, c Contents) []string {
	all, _ := p.tree(c).Hidden(ctx) // what cannot be read is made again each time
	return all
}

// stamp returns a text that changes with the files below some folders, but for those in caches.
func (p Place) stamp(names []string) string {
	h := newHash()
	add := func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			fmt.Fprintf(h, "%q %v\n", path, err)
		case !entry.IsDir():
			fmt.Fprintf(h, "%q %s\n", path, tree.Stamp(path))
		case entry.Name() == ".cache" || entry.Name() == "__pycache__":
			return fs.SkipDir
		default:
			fmt.Fprintf(h, "%q\n", path)
		}
		return nil
	}
	for _, name := range names {
		_ = filepath.WalkDir(filepath.Join(p.Copy, filepath.FromSlash(name)), add) // add returns no other error
	}
	return sumOf(h)
}
