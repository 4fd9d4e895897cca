// Package held finds the files on which trusted commands depend, and hashes their content.
package held

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// A key names what is held. It is a path below the project, separated by slashes, of a file
// or of a part of one: a script of a package.json, the sections of a configuration file that a
// program reads, or which files of a set there are in a folder.
const (
	partOf   = " scripts."
	sections = " sections for pytest"
)

// maxSection is the largest file of which sections are held, in bytes.
const maxSection = 4 << 20

// unreadable is the hash of a file that cannot be read: no trusted file has it.
const unreadable = "unreadable"

// At returns the path of a slash-separated path below the project. It does not clean it, because
// a/../b depends on whether a is a link.
func At(project, key string) string {
	return strings.TrimSuffix(project, string(filepath.Separator)) + string(filepath.Separator) +
		filepath.FromSlash(key)
}

// File returns the path of the file that a key is about; "" if it is about other files too, or
// about a part that changes seldom of a file that changes often.
func File(key string) string {
	if before, _, is := strings.Cut(key, config.PackageJSON+partOf); is {
		return before + config.PackageJSON
	}
	if strings.Contains(key, "/* for ") || strings.HasSuffix(key, sections) {
		return ""
	}
	return key
}

// Sum returns the current hash of what a key names: "" if it is missing.
func Sum(project, key string) string {
	sum, err := sumOf(project, key)
	if err != nil && !absent(err) {
		return unreadable
	}
	return sum
}

func sumOf(project, key string) (string, error) {
	if before, _, is := strings.Cut(key, config.PackageJSON+partOf); is {
		all, err := scripts(project, before+config.PackageJSON)
		return all[key], err
	}
	if folder, set, is := strings.Cut(key, "/* "); is {
		return sumOfSet(At(project, folder), config.Set(set))
	}
	if file, is := strings.CutSuffix(key, sections); is {
		text, err := loopdir.ReadAny(At(project, file), maxSection)
		if part := config.Section(string(text)); err == nil && part != "" {
			return Digest([]byte(part)), nil
		}
		return "", err
	}
	return sumFile(At(project, key))
}

// execMark begins the hash of a file that its owner may run. A hash without it is of
// a file that its owner could not run: nobody is hurt if it can be run later.
const execMark = "x "

func sumFile(path string) (string, error) {
	sum, info, err := HashFile(path)
	if err == nil && info.Mode()&0o100 != 0 {
		sum = execMark + sum
	}
	return sum, err
}

// Same reports whether two hashes of one key mean that nothing has changed.
func Same(was, now string) bool { return was == now || was == strings.Replace(now, execMark, "", 1) }

// TextSum returns the hash of the text of a file that has this hash, or that a link leads to.
func TextSum(sum string) string { return sum[strings.LastIndexByte(sum, ' ')+1:] }

// Digest returns the sha256 of a file's content, in hex.
func Digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// sumOfSet returns a hash of those names of a set that exist in a folder: "" if none does.
func sumOfSet(folder string, set config.Set) (string, error) {
	entries, err := os.ReadDir(folder)
	var names []string
	for _, e := range entries {
		if set.Has(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if err != nil || len(names) == 0 {
		return "", err
	}
	slices.Sort(names)
	return Digest([]byte(strings.Join(names, "\n"))), nil
}

// maxHashed is the largest file that is hashed, in bytes.
const maxHashed = 4 << 30

// HashFile returns the sha256 of the regular file at a path, in hex. It follows links, as a
// command does.
func HashFile(path string) (sum string, info fs.FileInfo, err error) {
	info, err = os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = loopdir.ErrNotRegular
	}
	if err != nil {
		return "", info, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return "", info, err
	}
	defer f.Close()
	info, err = f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", info, errors.Join(err, loopdir.ErrNotRegular)
	}
	if info.Size() > maxHashed {
		return "", info, fmt.Errorf("it is larger than %d GB", maxHashed>>30)
	}
	writeBack(f)
	h := sha256.New()
	_, err = io.Copy(h, io.LimitReader(f, maxHashed))
	return hex.EncodeToString(h.Sum(nil)), info, err
}

// scripts returns the hashes of the scripts in a package.json, by key. Others may be added. A
// missing file has none.
func scripts(project, file string) (map[string]string, error) {
	texts, err := scriptTexts(project, file)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for name, text := range texts {
		all[file+partOf+name] = Digest([]byte(text))
	}
	return all, nil
}

// scriptTexts returns the scripts in a package.json, by name.
func scriptTexts(project, file string) (map[string]string, error) {
	text, err := loopdir.ReadAny(At(project, file), config.MaxPackageJSON)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		text, err = jsontext.Check(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	// Of two equal keys npm takes the last, and others may take the first.
	if key := jsontext.Twice(jsontext.String(text)); key != "" {
		return nil, fmt.Errorf("%s has the key %q twice; leave one of them", file, plain.Line(key, 80))
	}
	all := map[string]string{}
	for name, script := range gjson.GetBytes(text, "scripts").ForEach {
		all[name.Str] = script.Str
	}
	return all, nil
}

// Below returns the path of a word of a command from the project's root, separated by
// slashes; "" if the word cannot be a path there.
func Below(project, home, word string) string {
	if rest, is := strings.CutPrefix(word, "~/"); is && home != "" {
		word = filepath.ToSlash(home) + "/" + rest
	}
	local := filepath.FromSlash(word)
	if filepath.IsAbs(local) {
		prefix := strings.TrimSuffix(project, string(filepath.Separator)) + string(filepath.Separator)
		rest, is := strings.CutPrefix(local, prefix)
		if !is { // perhaps by a link to the project
			dir, err := filepath.EvalSymlinks(filepath.Dir(local))
			rest, is = strings.CutPrefix(dir+string(filepath.Separator), prefix)
			if err != nil || !is {
				return ""
			}
			rest += filepath.Base(local)
		}
		local = rest
	} else if !filepath.IsLocal(local) { // ../project/v.sh
		rel, err := filepath.Rel(project, filepath.Join(project, local))
		if err != nil {
			return ""
		}
		local = rel
	}
	if !filepath.IsLocal(local) || strings.ContainsRune(local, 0) {
		return ""
	}
	return filepath.ToSlash(local)
}
