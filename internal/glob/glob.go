// Package glob matches paths, name by name, with patterns such as "**/*_test.go".
package glob

import (
	"fmt"
	"path"
	"strings"
)

// Glob is a pattern of a path. Each of its parts stands for one name, but for the part
// "**", which stands for any number of folders.
type Glob []part

type part struct {
	kind kind
	text string // the name, what the name ends with, or the pattern of a name
}

type kind int

const (
	literal kind = iota
	ending       // "*" and a literal
	pattern
	folders // "**"
)

// Parse reads a pattern whose parts are separated by slashes. In a part, * matches any part
// of a name, ? one character, [a-z] one of these, [!a-z] one of the others, and a
// backslash takes the meaning from the next character. The last part is never the part
// "**": there it stands for everything below the folder.
func Parse(text string) (Glob, error) {
	var g Glob
	names := strings.Split(text, "/")
	for i, name := range names {
		if name != "**" {
			p, err := parse(name)
			if err != nil {
				return nil, err
			}
			g = append(g, p)
			continue
		}
		if len(g) == 0 || g[len(g)-1].kind != folders {
			g = append(g, part{kind: folders})
		}
		if i == len(names)-1 {
			g = append(g, part{kind: ending})
		}
	}
	return g, nil
}

func parse(name string) (part, error) {
	name = strings.ReplaceAll(name, "[!", "[^")
	if _, err := path.Match(name, ""); err != nil || strings.Contains(name, "[[:") {
		return part{}, fmt.Errorf("%q is not a pattern of a name", name)
	}
	if rest := strings.TrimLeft(name, "*"); rest != name && !strings.ContainsAny(rest, special) {
		return part{ending, rest}, nil
	}
	if strings.ContainsAny(name, special) {
		return part{pattern, name}, nil
	}
	return part{literal, name}, nil
}

const special = `*?[\`

func (p part) match(name string) bool {
	switch p.kind {
	case literal:
		return name == p.text
	case ending:
		return strings.HasSuffix(name, p.text)
	}
	is, _ := path.Match(p.text, name)
	return is
}

// Match reports whether the pattern matches a path of these names.
func (g Glob) Match(names []string) bool {
	// After a name that does not match, only the last "**" before it may take one folder more.
	at, back, from := 0, -1, 0
	for i := 0; i < len(names); {
		switch {
		case at < len(g) && g[at].kind == folders:
			back, from = at, i
			at++
		case at < len(g) && g[at].match(names[i]):
			at++
			i++
		case back >= 0:
			from++
			at, i = back+1, from
		default:
			return false
		}
	}
	return at == len(g)
}

// MatchName reports whether a pattern without slashes matches a name.
func (g Glob) MatchName(name string) bool {
	return len(g) == 1 && g[0].match(name) || len(g) == 2 // "**"
}

// Below reports whether the pattern can match a path below the folder of these names, and
// whether it spells the folder's own name, without a wildcard.
func (g Glob) Below(folder []string) (can, spelled bool) {
	at := g.after(map[int]bool{0: true})
	for _, name := range folder {
		next := map[int]bool{}
		spelled = false
		for i := range at {
			switch p := g[i]; {
			case p.kind == folders:
				next[i] = true
			case i+1 < len(g) && p.match(name): // the last part is for a name below
				next[i+1] = true
				spelled = spelled || p.kind == literal
			}
		}
		at = g.after(next)
	}
	return len(at) > 0, spelled
}

// after adds the parts behind each "**", which may stand for no folder.
func (g Glob) after(at map[int]bool) map[int]bool {
	for i := range at {
		if g[i].kind == folders {
			at[i+1] = true
		}
	}
	return at
}
