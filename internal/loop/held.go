package loop

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// What a trusted command does is in the files that it names, and in those that
// "protect" names. These files are held: they must be what they were when a person
// trusted them.

// partOf stands between the path of a package.json and a script in it.
const partOf = " scripts."

// holder collects the hashes of held files by slash-separated path below the project.
// A file that does not exist has the hash "": it must not appear.
type holder struct {
	project string
	config  config.Config
	sums    map[string]string
	err     error // of the first file that cannot be held
}

// heldFiles returns the hashes of the files that a configuration rests on. Of what
// commands name these are the programs: files that can be executed, and files that
// say by their place in the command what is done. A log that is named is not one.
func (l *Loop) heldFiles(c config.Config) (map[string]string, error) {
	h := &holder{project: l.At.Project, config: c, sums: map[string]string{}}
	for _, command := range c.Commands() {
		for _, f := range command.Files() {
			if path := below(h.project, f.Path); path != "" {
				h.hold(path, f.Decides, command.Scripts()...)
			}
		}
	}
	err := h.protect(l.treeWithoutList(c))
	return h.sums, errors.Join(h.err, err)
}

// hold adds a file if it is a program or must is set. Of a package.json that nothing
// protects only the scripts are held, those with these names also if they are absent.
func (h *holder) hold(path string, must bool, names ...string) {
	key := filepath.ToSlash(path)
	sum, program, err := loopdir.HashFile(h.project, path)
	switch {
	case err == nil && filepath.Base(path) == config.PackageJSON && !h.config.Protects(key):
		held, err := scripts(h.project, path)
		h.err = errors.Join(h.err, err)
		maps.Copy(h.sums, held)
		for _, name := range names {
			if script := key + partOf + name; h.sums[script] == "" {
				h.sums[script] = ""
			}
		}
	case err == nil && (program || must):
		h.sums[key] = sum
	case errors.Is(err, fs.ErrNotExist) && must && filepath.Base(path) != config.PackageJSON:
		h.sums[key] = ""
	}
}

// scripts returns the hashes of the scripts in a package.json. Others may be added. A
// file that does not exist has none.
func scripts(project, path string) (map[string]string, error) {
	held := map[string]string{}
	text, err := loopdir.ReadFile(project, path, config.MaxPackageJSON)
	if errors.Is(err, fs.ErrNotExist) {
		return held, nil
	}
	if err == nil {
		text, err = jsontext.Check(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// Of two equal keys npm takes the last, and others may take the first.
	if key := jsontext.Twice(jsontext.String(text)); key != "" {
		return nil, fmt.Errorf("%s has the key %q twice; leave one of them", path, plain.Line(key, 80))
	}
	for name, script := range gjson.GetBytes(text, "scripts").ForEach {
		held[filepath.ToSlash(path)+partOf+name.Str] = fmt.Sprintf("%x", sha256.Sum256([]byte(script.Str)))
	}
	return held, nil
}

// sumNow returns the hash that a held file, or a script in one, has now.
func sumNow(project, key string) string {
	if path, _, part := strings.Cut(key, config.PackageJSON+partOf); part {
		held, err := scripts(project, filepath.FromSlash(path+config.PackageJSON))
		if err != nil {
			return unreadable
		}
		return held[key]
	}
	sum, _, err := loopdir.HashFile(project, filepath.FromSlash(key))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unreadable
	}
	return sum
}

// unreadable is the hash of a file that cannot be read: no trusted file has it.
const unreadable = "unreadable"

// below returns the path of a word of a command from the project's root, "" if the
// word cannot be a path there.
func below(project, word string) string {
	path := filepath.FromSlash(word)
	if filepath.IsAbs(path) {
		if rel, err := filepath.Rel(project, path); err == nil {
			path = rel
		}
	}
	if path = filepath.Clean(path); !filepath.IsLocal(path) || path == "." {
		return ""
	}
	return path
}

// HeldFor returns which of the held files commands rest on, sorted.
func (p *Picture) HeldFor(commands ...config.Command) (keys []string) {
	named := map[string]bool{}
	for _, c := range commands {
		for _, f := range c.Files() {
			named[filepath.ToSlash(below(p.Loop.At.Project, f.Path))] = true
		}
	}
	for key := range p.Config.Files {
		path, _, part := strings.Cut(key, config.PackageJSON+partOf)
		if named[key] || part && named[path+config.PackageJSON] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// heldForChecks returns which of the held files checks and evaluators rest on.
func (p *Picture) heldForChecks() []string {
	c := p.Config.Config
	c.Notifiers = nil // they change no verdict
	keys := p.HeldFor(c.Commands()...)
	for key := range p.Config.Files {
		if p.Config.Protects(key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Changed returns the first held file that has changed, of those that checks rest on;
// "" if none has.
func (p *Picture) Changed() string { return cmp.Or(p.firstChanged(p.heldForChecks()), p.added()) }

// ChangedOf is Changed for the files that one command rests on.
func (p *Picture) ChangedOf(c config.Command) string { return p.firstChanged(p.HeldFor(c)) }

func (p *Picture) firstChanged(keys []string) string {
	for _, key := range keys {
		was, now := p.Config.Files[key], sumNow
		if strings.HasPrefix(was, linkMark) {
			now = linkSum
		}
		if now(p.Loop.At.Project, key) != was {
			return key
		}
	}
	return ""
}

// stamps returns when the files that checks rest on changed last.
func (p *Picture) stamps() map[string]string {
	all := map[string]string{}
	for _, key := range p.heldForChecks() {
		path, _, _ := strings.Cut(key, partOf)
		all[path] = tree.Stamp(filepath.Join(p.Loop.At.Project, filepath.FromSlash(path)))
	}
	return all
}

// touchedSince returns a file whose stamp is not what it was; "" if all are.
func (p *Picture) touchedSince(before map[string]string) string {
	for path, was := range before {
		if tree.Stamp(filepath.Join(p.Loop.At.Project, filepath.FromSlash(path))) != was {
			return path
		}
	}
	return ""
}
