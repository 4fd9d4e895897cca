package tree

import (
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/glob"
)

// rules are the lines of one .gitignore file, after those of the folders above.
type rules struct {
	above *rules
	depth int // how many folders its own folder is below the root
	list  []rule
}

// rule is one line of a .gitignore file.
type rule struct {
	glob   glob.Glob
	name   bool // it is about the last name of a path, wherever that is
	folder bool // it is about folders only
	not    bool // it takes back an earlier line
}

// parseRules reads a .gitignore file as git does. It leaves out a line that it cannot read,
// so that less is ignored.
func parseRules(text string, above *rules, depth int) *rules {
	r := &rules{above: above, depth: depth}
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = strings.TrimSuffix(line, " ")
		}
		if line == "" || line[0] == '#' {
			continue
		}
		one := rule{}
		line, one.not = strings.CutPrefix(line, "!")
		line, one.folder = strings.CutSuffix(line, "/")
		one.name = !strings.Contains(line, "/")
		var err error
		one.glob, err = glob.Parse(strings.TrimPrefix(line, "/"))
		if err == nil && line != "" {
			r.list = append(r.list, one)
		}
	}
	return r
}

// ignore reports whether git ignores the file or folder whose path, from the root, has
// these names. Its folders are not ignored.
func (r *rules) ignore(names []string, folder bool) bool {
	last := names[len(names)-1]
	for ; r != nil; r = r.above {
		for i := len(r.list) - 1; i >= 0; i-- {
			one := &r.list[i]
			if one.folder && !folder {
				continue
			}
			if one.name && one.glob.MatchName(last) || !one.name && one.glob.Match(names[r.depth:]) {
				return !one.not
			}
		}
	}
	return false
}
