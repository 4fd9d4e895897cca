package tree

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Rules are the lines of one .gitignore file, after those of the folders above.
type Rules struct {
	above *Rules
	from  int // where the path below its own folder begins in a path from the root
	list  []rule
}

// rule is one line of a .gitignore file.
type rule struct {
	glob   string
	end    string // how each path that it matches ends, which is fast to see
	name   bool   // it is about the last name of a path, wherever that is
	folder bool   // it is about folders only
	not    bool   // it takes back an earlier line
}

// notBraces takes the meaning from braces, which have none for git, and notSlash keeps "[!a]" from
// matching a slash.
var (
	notBraces = strings.NewReplacer(`\\`, `\\`, `\{`, `\{`, `\}`, `\}`, "{", `\{`, "}", `\}`)
	notSlash  = strings.NewReplacer("[!", "[!/", "[^", "[!/")
)

// ParseRules reads a .gitignore file as git does. It leaves out a line that it cannot read,
// so that less is ignored. The path of the file's folder from the root has from bytes, with a slash at its end.
func ParseRules(text string, above *Rules, from int) *Rules {
	r := &Rules{above: above, from: from}
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
		one.end = line[strings.LastIndexAny(line, `*?[]\/`)+1:]
		one.glob = notSlash.Replace(notBraces.Replace(strings.TrimPrefix(line, "/")))
		if strings.HasSuffix(one.glob, "/**") {
			one.glob += "/*" // what is in the folder, not the folder
		}
		if line != "" && doublestar.ValidatePattern(one.glob) && !strings.Contains(line, "[[:") {
			r.list = append(r.list, one)
		}
	}
	return r
}

// Ignore reports whether git ignores the file or folder with this path from the root. Its folders are not ignored.
func (r *Rules) Ignore(name string, folder bool) bool {
	for ; r != nil; r = r.above {
		for i := len(r.list) - 1; i >= 0; i-- {
			one := &r.list[i]
			if one.folder && !folder || !strings.HasSuffix(name, one.end) {
				continue
			}
			below := name[r.from:]
			if one.name {
				below = path.Base(name)
			}
			if doublestar.MatchUnvalidated(one.glob, below) {
				return !one.not
			}
		}
	}
	return false
}
