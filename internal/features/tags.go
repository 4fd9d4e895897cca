package features

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Named returns the file of a list's name, and the tag that the name has behind it:
// "tasks.json#ui" is the tag ui of a Task Master file, none the one Task Master
// begins with.
func Named(name string) (file, tag string) {
	if dir, base := path.Split(filepath.ToSlash(name)); strings.Contains(base, jsonTag) {
		i := len(dir) + strings.Index(base, jsonTag) + len(jsonTag)
		return name[:i-1], name[i:]
	}
	return name, ""
}

const jsonTag = ".json#"

// tag is one of the lists of a Task Master file.
type tag struct {
	name     string
	from, to int
}

// tag reads the object that comes next, which may be one.
func (p *parser) tag(key string) (t tag, is bool) {
	t = tag{name: key, from: len(p.all)}
	p.Enter()
	for {
		inner, _, ok := p.Key()
		switch {
		case !ok:
			t.to = len(p.all)
			return t, is
		case inner == "tasks" && p.Peek() == '[' && !is:
			is = true
			p.items(nil)
		case inner == "valid_status" && key == "rules":
			p.valid = p.Skip()
		default:
			p.Skip()
		}
	}
}

// choose takes the tag that is wanted, or the only one, or the one that Task Master
// works in where nobody has said another.
func (p *parser) choose(tags []tag, at int) {
	for _, t := range tags {
		p.tags = append(p.tags, "#"+plain.Line(t.name, 80))
	}
	names := plain.Line(strings.Join(p.tags, ", "), 500)
	t := tags[0]
	if i := slices.IndexFunc(tags, func(t tag) bool { return t.name == cmp.Or(p.want, "master") }); i >= 0 {
		t = tags[i]
	} else if p.want != "" {
		p.fail(at, "there is no tag %q; there are %s", plain.Line(p.want, 80), names)
	} else if len(tags) > 1 {
		p.fail(at, `several tags, and none of them is "master"; name one behind the file: %s`, names)
	}
	p.shape, p.all = tasks, p.all[t.from:t.to]
}
