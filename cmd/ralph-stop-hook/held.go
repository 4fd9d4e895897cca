package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

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
// it is now. The list is held where checks say what its features are worth.
// The features' own checks are trusted with own only.
func trusted(ctx context.Context, s *loopdir.Store, text []byte, list decide.List, own bool) (config.Trust, error) {
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
	if t.Files, err = heldFiles(ctx, s.Project, c); err != nil || len(c.Checks) == 0 {
		return t, err
	}
	t.Features = map[string]string{}
	for _, item := range list.Items {
		t.Features[item.ID] = item.Identity()
	}
	return t, list.Err
}

// heldFiles returns the hashes of those files of a project, by slash-separated
// path below its root. Of what commands name these are the programs: what can be
// executed, and what an interpreter is given. A log that is named is not one.
func heldFiles(ctx context.Context, project string, c config.Config) (map[string]string, error) {
	held := map[string]string{}
	hold := func(path string, whatever bool) {
		if sum, program, err := loopdir.HashFile(project, path); err == nil && (program || whatever) {
			held[filepath.ToSlash(path)] = sum
		}
	}
	for _, command := range c.Commands() {
		words := command.Words()
		for i := range words {
			if path := below(project, words[i]); path != "" {
				hold(path, config.Script(words, i))
			}
		}
	}
	if len(c.Protect) == 0 {
		return held, nil
	}
	files, err := tree.Files(ctx, project, loopdir.RepoRoot(project))
	for _, path := range files {
		if c.Protects(filepath.ToSlash(path)) {
			hold(path, true)
		}
	}
	return held, err
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

// changed returns the first of the held files that is not what it was, of those
// that checks rest on; empty where all are. (A notifier changes no verdict.)
func (l loaded) changed() string {
	var rests []string
	for _, check := range l.config.Checks {
		rests = append(rests, check.Words()...)
	}
	for _, e := range l.config.Active() {
		rests = append(rests, e.Words()...)
	}
	return l.firstChanged(func(path string) bool {
		return l.config.Protects(path) || slices.ContainsFunc(rests, func(word string) bool { return below(l.Project, word) == filepath.FromSlash(path) })
	})
}

// changedOf is the same for what one command names.
func (l loaded) changedOf(c config.Command) string {
	return l.firstChanged(func(path string) bool {
		return slices.ContainsFunc(c.Words(), func(word string) bool { return below(l.Project, word) == filepath.FromSlash(path) })
	})
}

func (l loaded) firstChanged(matters func(path string) bool) string {
	for _, path := range slices.Sorted(maps.Keys(l.config.Files)) {
		if !matters(path) {
			continue
		}
		if sum, _, err := loopdir.HashFile(l.Project, filepath.FromSlash(path)); err != nil || sum != l.config.Files[path] {
			return path
		}
	}
	return ""
}

// ownChecks returns the checks that the features of a list bring, and those of
// their commands that are none, since there is no such program.
func ownChecks(list decide.List) (checks []config.Check, manual []string) {
	for _, item := range list.Items {
		found, _ := config.OwnChecks(item, func(command string) bool {
			words := strings.Fields(command)
			for strings.Contains(words[0], "=") && len(words) > 1 {
				words = words[1:]
			}
			_, err := exec.LookPath(words[0])
			if err == nil || strings.ContainsAny(words[0], "/~$") || slices.Contains(builtins, words[0]) {
				return true
			}
			if !slices.Contains(manual, command) {
				manual = append(manual, command)
			}
			return false
		})
		checks = append(checks, found...)
	}
	return checks, manual
}

// builtins are words of the shell that a command may begin with.
var builtins = []string{"cd", ".", "source", "set", "export", "exec", "eval"}
