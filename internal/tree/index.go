package tree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// readTime is how long a look may read files that have changed; tests shorten it. For those that could not be read by
// then, their sizes and times stand until these change.
var readTime = 3 * time.Second

// content is what a look has found in a file that is no folder.
type content struct {
	name  string
	stamp string // see Entry.appendTimes
	hash  string // of its bytes, or of a link's target; its stamp if they could not be read
	fresh bool   // it was written so lately that it may change without another stamp
}

// look returns a digest of what files say, and which of them say something else than at an earlier look. It reads those
// that may have changed since then. was is the index that the earlier look made; nil: there was none. index is the one
// of this look; nil if was still holds.
func (t Tree) look(ctx context.Context, files []Entry, was []byte) (print string, other map[string]bool, index []byte) {
	lately := time.Now().Add(-coarsest)
	earlier, known := t.readIndex(string(was))
	before := Lookup{Len: len(known), Name: func(i int) string { return known[i].name }}
	now := make([]content, len(files))
	said := make([]string, len(files)) // hashes as of the earlier look
	var unread []*Entry
	var line []byte
	for i := range files {
		f, c := &files[i], &now[i]
		c.name = f.Path
		line = f.appendTimes(line[:0])
		at, is := before.Find(f.Path)
		same := is && known[at].stamp == string(line)
		if is {
			said[i] = known[at].hash
		}
		if same {
			*c = known[at]
		} else {
			c.stamp = string(line)
		}
		if !same || c.fresh && c.hash != c.stamp {
			unread = append(unread, f)
		}
		c.fresh = f.latest().After(lately)
	}
	if len(unread) == 0 && len(known) == len(files) && earlier != "" {
		return earlier, nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	done := within(ctx, func() bool { return t.readFiles(limited, unread) })
	if !done {
		return "", nil, nil
	}
	sum := sha256.New()
	other = map[string]bool{}
	for i := range files {
		f, c := &files[i], &now[i]
		c.hash = cmp.Or(f.hash, c.hash, c.stamp)
		runs := f.Mode.IsRegular() && f.Mode.Perm()&0o111 != 0
		line = append(append(line[:0], f.Path...), 0)
		line = strconv.AppendBool(strconv.AppendUint(line, uint64(f.Mode.Type()), 8), runs)
		sum.Write(append(append(line, c.hash...), 0))
		if c.hash != said[i] {
			other[f.Path] = true
		}
	}
	print = hex.EncodeToString(sum.Sum(nil))
	return print, other, t.writeIndex(print, now, len(was))
}

// readFiles notes the hash of what each file says: of a link its target, of a device nothing. Files that cannot be read
// before ctx is over get none; so large ones come last. It reports whether the tree is there.
func (t Tree) readFiles(ctx context.Context, files []*Entry) bool {
	root, err := os.OpenRoot(t.root())
	if err != nil {
		return false
	}
	defer root.Close()
	slices.SortStableFunc(files, func(a, b *Entry) int { return cmp.Compare(a.Size, b.Size) })
	below := map[string][]*Entry{} // by folder: a file is opened faster from there than by its whole path
	var folders []string           // the one with the largest file first
	for _, f := range slices.Backward(files) {
		folder := filepath.Dir(f.Path)
		if below[folder] == nil {
			folders = append(folders, folder)
		}
		below[folder] = append(below[folder], f)
	}
	slices.Reverse(folders)
	each(len(folders), func(i int) {
		folder, err := root.OpenRoot(folders[i])
		if err != nil {
			return
		}
		defer folder.Close()
		for _, f := range slices.Backward(below[folders[i]]) {
			name := filepath.Base(f.Path)
			sum := sha256.New()
			var err error
			switch mode := f.Mode; {
			case mode.IsRegular():
				left := int64(maxBytes)
				err = readFile(folder, name, untilOver{ctx, sum}, &left)
			case mode&fs.ModeSymlink != 0:
				var target string
				target, err = folder.Readlink(name)
				sum.Write([]byte(target))
			}
			if err == nil {
				f.hash = hex.EncodeToString(sum.Sum(nil))
			}
		}
	})
	return true
}

// untilOver is a hash that takes nothing more when ctx is over.
type untilOver struct {
	ctx context.Context
	sum hash.Hash
}

func (u untilOver) Write(data []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.sum.Write(data)
}

// The text of an index has two fields: the tree's root, and the digest of what all files say. Then there are three
// fields for each file. Each field ends in a byte that no path has.
const fieldEnd = "\x00"

// writeIndex returns the text of an index of about size bytes.
func (t Tree) writeIndex(print string, now []content, size int) []byte {
	text := make([]byte, 0, size+size/8)
	text = append(text, t.root()+fieldEnd+print+fieldEnd...)
	for _, c := range now {
		text = append(append(text, c.name...), fieldEnd...)
		text = append(append(text, c.stamp...), fieldEnd...)
		if c.fresh {
			text = append(text, '~')
		}
		text = append(append(text, c.hash...), fieldEnd...)
	}
	return text
}

// readIndex returns the digest of an index of this tree, and what its files said, sorted by name.
func (t Tree) readIndex(text string) (print string, all []content) {
	rest, is := strings.CutPrefix(text, t.root()+fieldEnd)
	if !is {
		return "", nil
	}
	print, rest, _ = strings.Cut(rest, fieldEnd)
	all = make([]content, 0, strings.Count(rest, fieldEnd)/3)
	for {
		var c content
		c.name, rest, _ = strings.Cut(rest, fieldEnd)
		c.stamp, rest, _ = strings.Cut(rest, fieldEnd)
		c.hash, rest, is = strings.Cut(rest, fieldEnd)
		if !is {
			return print, all
		}
		c.hash, c.fresh = strings.CutPrefix(c.hash, "~")
		all = append(all, c)
	}
}

// within returns what look returns, or nothing if ctx is over before: a read may hang.
func within[T any](ctx context.Context, look func() T) (found T) {
	result := make(chan T, 1)
	go func() {
		var found T
		defer func() {
			_ = recover() // a panic here would end the process with status 2
			result <- found
		}()
		found = look()
	}()
	select {
	case found = <-result:
	case <-ctx.Done():
	}
	return found
}
