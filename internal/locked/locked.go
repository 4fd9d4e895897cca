// Package locked finds the files that are locked: those that trusted commands name, the build files of their programs,
// and those that "protect" names. It hashes their content.
package locked

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Finder finds what is locked. Sums and Scripts are hashes by key. A missing file has the hash "": it must not
// appear.
type Finder struct {
	Project string
	Home    string              // the user's home folder
	Config  config.Config       // whose "not_held" and "protect" count
	Git     func(...string) int // runs git in the project and returns its exit status; nil: no repository

	Sums    map[string]string // of the files that no check may find changed
	Scripts map[string]string // of the programs and scripts of notifiers
	Missing []string          // keys of files that commands need and that do not exist yet
	// Believed are the targets of make that a command asks for and that a file of their name would hold up.
	Believed []Target
	Targets  []string // where checks run in a room: all targets of makefiles that are no files now
	Included []string // patterns of the files that makefiles include
	Unnamed  []Target // what makefiles include by words that only make knows
	NotPhony []Target // those of Targets that read as if they should be .PHONY
	Open     []string // files that commands name and that are not locked, with the reason
	Err      error    // why something cannot be locked

	pytest bool
}

// New returns a Finder for a configuration.
func New(project, home string, c config.Config) *Finder {
	return &Finder{Project: project, Home: home, Config: c, Sums: map[string]string{}, Scripts: map[string]string{}}
}

// maxFolders bounds the folders of one command in which files are looked for.
const maxFolders = 10

// Command locks the files that a command names, and the build files of its programs. It looks for them in the
// project's root and in each folder that the command names.
func (f *Finder) Command(c config.Command) {
	words := c.Words()
	folders := f.folders(words)
	for _, w := range words {
		for _, row := range config.BuildsOf(w.Text) {
			f.build(row, folders, words, w.Late)
		}
		if !w.Looked {
			f.word(w, folders)
		}
	}
}

// Programs locks the programs and scripts of a command, and no other file that it names. It puts their hashes into
// sums.
func (f *Finder) Programs(c config.Command, sums map[string]string) {
	words := c.Words()
	folders := f.folders(words)
	for _, w := range words {
		if !w.Runs {
			continue
		}
		there, missing := f.places(w.Text, folders)
		for _, key := range there {
			sum, err := sumFile(At(f.Project, key))
			f.fail(key, err)
			if err == nil {
				sums[key] = sum
			}
		}
		if len(there) == 0 && len(missing) > 0 {
			sums[missing[0]] = ""
			f.Missing = append(f.Missing, missing[0])
		}
	}
}

// folders returns the keys of the folders in which the files of a command are looked for. What is missing belongs into
// the first one: the root, or where a command that begins with cd goes.
func (f *Finder) folders(words []config.Word) []string {
	folders := []string{"."}
	for _, w := range words {
		key := keyIn(f.Project, f.Home, ".", w.Text)
		if key == "" || w.Looked || len(folders) > maxFolders || slices.Contains(folders, key) {
			continue
		}
		if info, err := os.Stat(At(f.Project, key)); err == nil && info.IsDir() {
			folders = append(folders, key)
		}
	}
	if len(folders) > 1 && words[0].Text == "cd" {
		folders[0], folders[1] = folders[1], "."
	}
	return folders
}

// places returns the keys of what a word names in some folders, and of what is missing there: none if the agent may
// edit what the word names.
func (f *Finder) places(word string, folders []string) (there, missing []string) {
	for _, folder := range folders {
		key := keyIn(f.Project, f.Home, folder, word)
		if key == "" || key == "." || f.released(key) || f.isList(key) {
			return there, nil
		}
		if f.exists(key) {
			there = append(there, key)
		} else {
			missing = append(missing, key)
		}
	}
	return there, slices.Compact(missing)
}

func (f *Finder) exists(key string) bool {
	_, err := os.Stat(At(f.Project, key))
	return !loopdir.Absent(err)
}

// build locks the build files of a program in some folders. late: a command before the program may write them.
func (f *Finder) build(row config.Build, folders []string, words []config.Word, late bool) {
	f.pytest = f.pytest || slices.Contains(row.Programs, "pytest")
	isThere := func(folder string) bool {
		exists := func(name string) bool { return f.exists(path.Join(folder, name)) }
		return row.Main == "" || slices.ContainsFunc(row.Files, exists)
	}
	there := slices.DeleteFunc(slices.Clone(folders), func(folder string) bool { return !isThere(folder) })
	if key := path.Join(folders[0], row.Main); len(there) == 0 && !late && !f.released(key) {
		there = folders[:1]
		f.Missing = append(f.Missing, key)
	}
	hasScripts := func(folder string) bool { return f.exists(path.Join(folder, config.PackageJSON)) }
	if row.Scripts && !slices.ContainsFunc(folders, hasScripts) {
		f.open(path.Join(folders[0], config.PackageJSON), "it does not exist yet; when it does, run 'trust'")
	}
	for _, folder := range there {
		for _, name := range row.Files {
			if key := path.Join(folder, name); row.Main == "" || !f.ignored(key) {
				f.lock(key)
			}
		}
		for _, name := range row.Sections {
			f.lock(path.Join(folder, name) + sections)
		}
		if row.Scripts && hasScripts(folder) {
			f.lockScripts(path.Join(folder, config.PackageJSON), words)
		}
		if slices.Contains(row.Programs, "make") {
			f.targets(folder, words)
		}
	}
}

const nameIt = `; to lock it, name it in "protect"`

// word locks a file that a word names.
func (f *Finder) word(w config.Word, folders []string) {
	there, missing := f.places(w.Text, folders)
	for _, key := range there {
		info, err := os.Stat(At(f.Project, key))
		free := !f.Config.Protects(key)
		switch {
		case err != nil:
			f.fail(key, err)
		case info.IsDir():
		case !info.Mode().IsRegular():
			f.fail(key, errors.New("it is no regular file"))
		case free && slices.Contains(config.Manifests, path.Base(key)):
		case free && f.ignored(key):
			if !f.Config.Room { // a room is without it, whatever is locked
				f.open(key, "git ignores it"+nameIt)
			}
		case free && w.Late && binary(At(f.Project, key)):
			f.open(key, "a command before it may build it"+nameIt)
		default:
			f.lock(key)
		}
	}
	if len(there) > 0 || len(missing) == 0 || !w.Runs {
		return
	}
	switch key := missing[0]; {
	case w.Late:
		f.open(key, "it does not exist yet, and a command before it may build it")
	case f.ignored(key):
		f.open(key, "it does not exist yet, and git ignores it")
	default:
		f.lock(key)
		f.Missing = append(f.Missing, key)
	}
}

// isList reports whether a key is that of the list, in which the agent works.
func (f *Finder) isList(key string) bool {
	list, _, _ := strings.Cut(f.Config.List, "#")
	return key == path.Clean(list)
}

// released reports whether the agent may edit a file although a command names it.
func (f *Finder) released(key string) bool { return f.Config.Releases(key) && !f.Config.Protects(key) }

func (f *Finder) lock(key string) {
	file := File(key)
	info, err := os.Stat(At(f.Project, file))
	if _, locked := f.Sums[key]; locked || f.released(file) || err == nil && info.IsDir() {
		return
	}
	sum, err := sumOf(f.Project, key)
	if loopdir.Absent(err) {
		err = nil
	}
	f.fail(key, err)
	if err == nil {
		f.Sums[key] = sum
	}
}

// lockScripts locks the scripts of a package.json. words are those of the command that runs them: a script that is
// missing must not appear under one of them.
func (f *Finder) lockScripts(file string, words []config.Word) {
	if f.released(file) {
		return
	}
	key := file + scripts
	sum, err := sumScripts(f.Project, file)
	f.fail(key, err)
	if err != nil {
		return
	}
	for _, w := range words {
		if !strings.HasPrefix(w.Text, "-") && len(w.Text) < maxScriptName {
			sum = withMissing(sum, w.Text)
		}
	}
	if was := f.Sums[key]; was != "" { // of another command
		for line := range strings.SplitSeq(was, "\n") {
			if name, hash, _ := strings.Cut(line, " "); hash == "" {
				sum = withMissing(sum, name)
			}
		}
	}
	f.Sums[key] = sum
}

func (f *Finder) fail(key string, err error) {
	if err != nil && f.Err == nil {
		f.Err = fmt.Errorf("%s cannot be locked: %w; fix that, or name it in \"not_held\"", plain.Line(File(key), 200), err)
	}
}

func (f *Finder) open(key, why string) {
	text := plain.Line(key, 200) + ": " + why
	if !slices.Contains(f.Open, text) {
		f.Open = append(f.Open, text)
	}
}

// Finish locks what pytest loads beside and above locked tests, and where checks run in a room what links lead to.
func (f *Finder) Finish() {
	if f.Config.Room {
		defer f.linkTargets()
	}
	if !f.pytest {
		return
	}
	for _, key := range slices.Collect(maps.Keys(f.Sums)) {
		if f.Sums[key] == "" || !testFile().MatchString(key) {
			continue
		}
		for dir := path.Dir(key); ; dir = path.Dir(dir) {
			f.lock(path.Join(dir, config.Conftest))
			if dir == "." || dir == "/" {
				break
			}
		}
	}
}

// Targets of links are hashed with the links. In a room they are edits of their own, so they are locked, too.
func (f *Finder) linkTargets() {
	project, err := filepath.EvalSymlinks(f.Project)
	if err != nil {
		return
	}
	for _, key := range slices.Collect(maps.Keys(f.Sums)) {
		target, err := filepath.EvalSymlinks(At(f.Project, File(key)))
		if err != nil {
			continue
		}
		name, err := filepath.Rel(project, target)
		if err == nil && filepath.IsLocal(name) && filepath.ToSlash(name) != File(key) {
			f.lock(filepath.ToSlash(name))
		}
	}
}

// testFile matches what pytest takes for a test.
var testFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|/)(test_[^/]*|[^/]*_test)\.py$`)
})

// Keys returns the keys among sums that a command names, in the project's root or in a folder that it names.
func Keys(project, home string, c config.Command, sums map[string]string) (keys []string) {
	names := map[string]bool{}
	for _, w := range c.Words() {
		names[keyIn(project, home, ".", w.Text)] = true
	}
	for key := range sums {
		named := names[key]
		for i := range len(key) {
			named = named || key[i] == '/' && names[key[:i]] && names[key[i+1:]]
		}
		if named {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// keyIn returns the key of a file that a word names in a folder; "" if the word cannot name one.
func keyIn(project, home, folder, word string) string {
	if word == "" || len(word) > maxName {
		return ""
	}
	rooted := path.IsAbs(word) || strings.HasPrefix(word, "~/")
	if folder != "." && !rooted {
		word = folder + "/" + word
	}
	key := Below(project, home, word)
	if key != "" && !slices.Contains(strings.Split(key, "/"), "..") {
		key = path.Clean(key)
	}
	return key
}

// maxName is the longest name of a file, in bytes.
const maxName = 4096

func (f *Finder) ignored(key string) bool {
	return f.Git != nil && f.Git("check-ignore", "-q", "--", key) == 0
}

// binary reports whether a file is not text.
func binary(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := f.Read(head)
	return bytes.IndexByte(head[:n], 0) >= 0
}
