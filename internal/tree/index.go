package tree

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	stamp string // see appendStamp
	hash  string // of its bytes, or of a link's target; its stamp if they could not be read
	fresh bool   // it was written so lately that it may change without another stamp
}

// appendStamp adds a text to line that is another one if the file has changed, as far as its times show that.
func appendStamp(line []byte, info fs.FileInfo) []byte {
	line = strconv.AppendUint(line, uint64(info.Mode()), 8)
	for _, n := range []int64{info.Size(), info.ModTime().UnixNano(), changed(info).UnixNano()} {
		line = strconv.AppendInt(append(line, ' '), n, 10)
	}
	return line
}

// look returns a digest of what files say, and which of them say something else than at an earlier look. It reads those
// that may have changed since then. was is the index that the earlier look made; nil: there was none. index is the one
// of this look; nil if was still holds.
func (t Tree) look(ctx context.Context, files []file, was []byte) (print string, other map[string]bool, index []byte) {
	lately := time.Now().Add(-coarsest)
	sum := sha256.New()
	var line []byte
	for _, f := range files {
		if !f.info.IsDir() {
			line = append(appendStamp(append(append(line[:0], f.name...), 0), f.info), 0)
			sum.Write(line)
		}
	}
	stamps := hex.EncodeToString(sum.Sum(nil))
	var known map[string]content
	if fields := bytes.SplitN(was, []byte(fieldEnd), 4); len(fields) == 4 && string(fields[0]) == t.root() {
		if string(fields[1]) == stamps {
			return string(fields[2]), nil, nil
		}
		known = readIndex(string(fields[3]))
	}
	files = slices.DeleteFunc(slices.Clone(files), func(f file) bool { return f.info.IsDir() })
	now := make([]content, len(files))
	var unread []*file
	for i, f := range files {
		now[i].stamp = string(appendStamp(line[:0], f.info))
		now[i].fresh = latest(f.info).After(lately)
		k := known[f.name]
		if k.stamp == now[i].stamp {
			now[i].hash = k.hash
		}
		if k.stamp != now[i].stamp || k.fresh && k.hash != k.stamp {
			unread = append(unread, &files[i])
		}
	}
	limited, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	done := within(ctx, func() bool { return t.readFiles(limited, unread) })
	if !done {
		return "", nil, nil
	}
	sum.Reset()
	other = map[string]bool{}
	for i, f := range files {
		now[i].hash = cmp.Or(f.hash, now[i].hash, now[i].stamp)
		mode := f.info.Mode()
		runs := mode.IsRegular() && mode.Perm()&0o111 != 0
		fmt.Fprintf(sum, "%q %v %v %s\n", f.name, mode.Type(), runs, now[i].hash)
		if now[i].hash != known[f.name].hash {
			other[f.name] = true
		}
		if now[i].fresh {
			stamps = ""
		}
	}
	print = hex.EncodeToString(sum.Sum(nil))
	return print, other, t.writeIndex(stamps, print, files, now)
}

// latest returns when a file changed, by the time that no program can set if there is one.
func latest(info fs.FileInfo) time.Time {
	at := changed(info)
	if at.IsZero() {
		return info.ModTime()
	}
	return at
}

// readFiles notes the hash of what each file says: of a link its target, of a device nothing. Files that cannot be read
// before ctx is over get none; so large ones come last. It reports whether the tree is there.
func (t Tree) readFiles(ctx context.Context, files []*file) bool {
	root, err := os.OpenRoot(t.root())
	if err != nil {
		return false
	}
	defer root.Close()
	slices.SortStableFunc(files, func(a, b *file) int { return cmp.Compare(a.info.Size(), b.info.Size()) })
	below := map[string][]*file{} // by folder: a file is opened faster from there than by its whole path
	var folders []string          // the one with the largest file first
	for _, f := range slices.Backward(files) {
		folder := filepath.Dir(f.name)
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
			name := filepath.Base(f.name)
			sum := sha256.New()
			var err error
			switch mode := f.info.Mode(); {
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

// The text of an index has three fields: the tree's root, a digest of the stamps of all files, which is empty if some
// have to be read again in any case, and the digest of what they say. Three fields for each file follow. Each field
// ends in a byte that no path has.
const fieldEnd = "\x00"

func (t Tree) writeIndex(stamps, print string, files []file, now []content) []byte {
	text := []byte(strings.Join([]string{t.root(), stamps, print, ""}, fieldEnd))
	for i, c := range now {
		mark := ""
		if c.fresh {
			mark = "~"
		}
		for _, field := range []string{files[i].name, c.stamp, mark + c.hash} {
			text = append(append(text, field...), fieldEnd...)
		}
	}
	return text
}

// readIndex returns what the files of an index said, by name.
func readIndex(text string) map[string]content {
	fields := strings.Split(text, fieldEnd)
	all := make(map[string]content, len(fields)/3)
	for ; len(fields) >= 3; fields = fields[3:] {
		hash, fresh := strings.CutPrefix(fields[2], "~")
		all[fields[0]] = content{fields[1], hash, fresh}
	}
	return all
}
