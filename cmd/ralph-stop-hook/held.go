package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// What a trusted command does is in the files that it names, and in those that
// "protect" names. They are held to what they were when a person trusted them.

// trusted records text as the ralph.json that holds, with all that is held to what
// it is now. The list is held where checks, or an evaluator's command, say what its
// features are worth.
// The features' own checks are trusted with own only.
func trusted(s *loopdir.Store, text []byte, list decide.List, own bool) (config.Trust, error) {
	t := config.NewTrust(text, os.Getenv("PATH"))
	t.Env = map[string]string{}
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); proc.Decides(name) {
			t.Env[name] = value
		}
	}
	c, err := config.Parse(text)
	if err != nil {
		return t, fmt.Errorf("%s: %w", loopdir.ConfigFile, err)
	}
	for _, check := range c.Checks {
		for _, id := range check.Features {
			if _, has := list.Find(id); !has && len(list.Items) > 0 {
				return t, fmt.Errorf("%s: the check %s is for the feature %q, which the list does not have", loopdir.ConfigFile, plain.Line(check.Name, 80), plain.Line(id, 80))
			}
		}
	}
	if own {
		checks, manual := ownChecks(list)
		c.Checks, t.Manual, t.Own = append(c.Checks, checks...), manual, len(checks) > 0
	}
	asks := slices.ContainsFunc(c.Active(), func(e config.Evaluator) bool { return e.Preset == "" })
	if t.Files, err = heldFiles(s.Project, c); err != nil || len(c.Checks) == 0 && !asks {
		return t, err
	}
	_, t.Ignored = tree.Contents(context.Background(), s.Project, loopdir.RepoRoot(s.Project), []string{treeExcept(s.Loop)})
	t.Features = map[string]string{}
	for _, item := range list.Items {
		t.Features[item.ID] = item.Identity()
	}
	return t, list.Err
}

// environ is the session's environment, with what decides what programs load as it
// was when a person trusted the commands. load has set PATH.
func (l *loaded) environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return l.config.Trusted && proc.Decides(name)
	})
	for name, value := range l.config.Env {
		env = append(env, name+"="+value)
	}
	return env
}

// heldFiles returns the hashes of those files of a project, by slash-separated
// path below its root; empty where there is no such file, which is held too. Of
// what commands name these are the programs: what can be executed, and what says by
// its place what is done. A log that is named is not one.
func heldFiles(project string, c config.Config) (map[string]string, error) {
	held := map[string]string{}
	hold := func(path string, whatever bool, names ...string) {
		key := filepath.ToSlash(path)
		sum, program, err := loopdir.HashFile(project, path)
		switch {
		case err == nil && filepath.Base(path) == config.Package && !c.Protects(key):
			maps.Copy(held, scripts(project, path))
			for _, name := range names {
				if script := key + partOf + name; held[script] == "" {
					held[script] = "" // one that is not there must not appear
				}
			}
		case err == nil && (program || whatever):
			held[key] = sum
		case errors.Is(err, fs.ErrNotExist) && whatever && filepath.Base(path) != config.Package:
			held[key] = ""
		}
	}
	for _, command := range c.Commands() {
		for _, f := range command.Files() {
			if path := below(project, f.Path); path != "" {
				hold(path, f.Text, command.Scripts()...)
			}
		}
	}
	if len(c.Protect) == 0 {
		return held, nil
	}
	files, err := tree.Files(context.Background(), project, loopdir.RepoRoot(project))
	for _, path := range files {
		if c.Protects(filepath.ToSlash(path)) {
			hold(path, true)
		}
	}
	return held, err
}

// partOf stands between the path of a package.json and a script in it.
const partOf = " scripts."

// scripts returns the hashes of the scripts in a package.json. Others may be added.
func scripts(project, path string) map[string]string {
	held := map[string]string{}
	text, _ := loopdir.ReadFile(project, path, config.MaxPackage) // what cannot be read has none
	for name, script := range gjson.GetBytes(text, "scripts").ForEach {
		held[filepath.ToSlash(path)+partOf+name.Str] = fmt.Sprintf("%x", sha256.Sum256([]byte(script.Str)))
	}
	return held
}

// sumNow is what heldFiles would say now of what it called key.
func sumNow(project, key string) string {
	if path, _, part := strings.Cut(key, config.Package+partOf); part {
		return scripts(project, filepath.FromSlash(path+config.Package))[key]
	}
	sum, _, err := loopdir.HashFile(project, filepath.FromSlash(key))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "unreadable"
	}
	return sum
}

// below returns the path of a word from the project's root, nothing where it can
// be none.
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

// rests returns which of the held files commands rest on, sorted.
func (l *loaded) rests(commands ...config.Command) (keys []string) {
	named := map[string]bool{}
	for _, c := range commands {
		for _, f := range c.Files() {
			named[filepath.ToSlash(below(l.Project, f.Path))] = true
		}
	}
	for key := range l.config.Files {
		if path, _, part := strings.Cut(key, config.Package+partOf); named[key] || part && named[path+config.Package] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// restsAll returns which of them checks and evaluators rest on.
func (l *loaded) restsAll() []string {
	c := l.config.Config
	c.Notifiers = nil // which change no verdict
	keys := l.rests(c.Commands()...)
	for key := range l.config.Files {
		if l.config.Protects(key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// changed returns the first of the held files that is not what it was, of those
// that checks rest on; empty where all are.
func (l *loaded) changed() string { return l.firstChanged(l.restsAll()) }

// changedOf is the same for what one command names.
func (l *loaded) changedOf(c config.Command) string { return l.firstChanged(l.rests(c)) }

func (l *loaded) firstChanged(keys []string) string {
	for _, key := range keys {
		if sumNow(l.Project, key) != l.config.Files[key] {
			return key
		}
	}
	return ""
}

// stamps tells when the files that checks rest on changed last.
func (l *loaded) stamps() map[string]string {
	all := map[string]string{}
	for _, key := range l.restsAll() {
		path, _, _ := strings.Cut(key, partOf)
		all[path] = tree.Stamp(filepath.Join(l.Project, filepath.FromSlash(path)))
	}
	return all
}

// touched returns a file whose stamp is not what it was; empty where all are.
func (l *loaded) touched(before map[string]string) string {
	for path, was := range before {
		if tree.Stamp(filepath.Join(l.Project, filepath.FromSlash(path))) != was {
			return path
		}
	}
	return ""
}

// ownChecks returns the checks that the features of a list bring, and those of
// their commands that are none, since there is no such program.
func ownChecks(list decide.List) (checks []config.Check, manual []string) {
	known := map[string]bool{} // many features bring the same
	for _, item := range list.Items {
		found, _ := config.OwnChecks(item, func(command string) (is bool) {
			if is, has := known[command]; has {
				return is
			}
			if is = isCommand(command); !is {
				manual = append(manual, command)
			}
			known[command] = is
			return is
		})
		checks = append(checks, found...)
	}
	return checks, manual
}

// isCommand tells whether the first word of a shell line can be a program.
func isCommand(line string) bool {
	words := strings.Fields(line)
	for len(words) > 1 && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	_, err := exec.LookPath(words[0])
	return err == nil || strings.ContainsAny(words[0], "/~$") || slices.Contains(builtins, words[0])
}

// builtins are words of the shell that a command may begin with.
var builtins = []string{"cd", ".", "source", "set", "export", "exec", "eval"}
