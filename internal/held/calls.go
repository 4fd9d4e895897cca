package held

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/makefile"
)

// Make runs the recipes of a makefile, and npm the scripts of a package.json. They are read like
// commands, but only the programs and scripts that they run are held, not every file that they
// name.

// maxMakefile is the largest makefile that is read, in bytes.
const maxMakefile = 1 << 20

// maxFollowed bounds how many makefiles and package.jsons are followed for one configuration.
const maxFollowed = 1000

// names has what a command names, and what the scripts that it calls depend on.
func (h *Holder) names(named config.Named) {
	for _, f := range named.Files {
		if h.caller == "" || f.Decides || f.Set != "" || f.Section || f.Beside {
			h.named(f, named.Scripts)
		}
	}
	for _, text := range named.Open {
		if h.caller != "" {
			text = h.caller + ": " + text
		}
		h.open(text, notTold)
	}
	for _, call := range named.Makes {
		for _, file := range call.Files {
			h.follow(file, call.Args, func(text string) { h.recipes(text, call) })
		}
	}
	for _, f := range named.Files {
		if f.Decides && path.Base(f.Path) == config.PackageJSON {
			h.follow(f.Path, named.Scripts, func(string) {
				texts, _ := scriptTexts(h.Project, h.caller)
				for _, name := range named.Scripts {
					h.names(config.Command{Shell: texts[name]}.NamedIn(path.Dir(f.Path), false))
				}
			})
		}
	}
}

const notTold = ": what this runs is not in its text"

// follow calls f with the text of each held file that commands call with these arguments.
func (h *Holder) follow(file string, args []string, f func(text string)) {
	key := keyOf(h.Project, h.Home, config.File{Path: file})
	call := key + "\x00" + strings.Join(args, "\x00")
	if key == "" || h.followed[call] || h.Config.Releases(key) && !h.Config.Protects(key) {
		return
	}
	text, err := loopdir.ReadAny(At(h.Project, key), maxMakefile)
	if err != nil {
		return // it is missing or not held, which is reported elsewhere
	}
	h.followed[call] = true
	if len(h.followed) > maxFollowed {
		h.open(key, notTold)
		return
	}
	defer func(caller string) { h.caller = caller }(h.caller)
	h.caller = key
	f(string(text))
}

// recipes holds the files on which the recipes of a makefile depend.
func (h *Holder) recipes(text string, call config.Make) {
	read := makefile.Read(text, call.Args, func(name string) string {
		if key := keyOf(h.Project, h.Home, config.File{Path: path.Join(call.Dir, name)}); key != "" {
			if text, err := loopdir.ReadAny(At(h.Project, key), maxMakefile); err == nil {
				return string(text)
			}
		}
		return ""
	})
	for _, name := range read.Included {
		h.named(config.File{
			Path: path.Join(call.Dir, name), Decides: true, Built: slices.Contains(read.Made, name),
			Pattern: strings.ContainsAny(name, "*?["),
		}, nil)
	}
	for _, text := range read.Open {
		h.open(h.caller+": "+text, notTold)
	}
	for _, line := range read.Lines {
		h.names(config.Command{Shell: line}.NamedIn(call.Dir, true))
	}
}

// Keys returns the keys of sums on which commands depend, sorted. calls are a Holder's.
func Keys(project, home string, sums map[string]string, calls map[string][]string,
	commands ...config.Command) (keys []string) {
	named, patterns, beside := map[string]bool{}, []string{}, map[string]bool{}
	for _, c := range commands {
		for _, f := range c.Named().Files {
			key := keyOf(project, home, f)
			switch {
			case f.Beside:
				beside[f.Path] = true
			case f.Pattern && key != "":
				patterns = append(patterns, key)
			default:
				named[key] = true
			}
		}
	}
	found := map[string]bool{}
	var add func(key string)
	add = func(key string) {
		if _, held := sums[key]; held && !found[key] {
			found[key] = true
			keys = append(keys, key)
			for _, called := range calls[File(key)] {
				add(called)
			}
		}
	}
	for key := range sums {
		matches := func(pattern string) bool { is, _ := path.Match(pattern, key); return is }
		if named[key] || strings.Contains(key, config.PackageJSON+partOf) && named[File(key)] ||
			beside[path.Base(key)] || slices.ContainsFunc(patterns, matches) {
			add(key)
		}
	}
	slices.Sort(keys)
	return keys
}
