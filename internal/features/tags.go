package features

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Named splits the name of a list into its file and its tag: "tasks.json#ui" is the tag
// "ui" of the Task Master file tasks.json. The tag is empty if the name has none.
func Named(name string) (file, tag string) {
	if dir, base := path.Split(filepath.ToSlash(name)); strings.Contains(base, jsonTag) {
		i := len(dir) + strings.Index(base, jsonTag) + len(jsonTag)
		return name[:i-1], name[i:]
	}
	return name, ""
}

const jsonTag = ".json#"

// tag is one of the lists of a Task Master file: parser.all[from:to].
type tag struct {
	name     string
	from, to int
	beside   []member // its keys that are not its tasks
	twice    keySet
}

// readTag reads the object of a key. It is a tag if it has an array of tasks.
func (p *parser) readTag(key string) (t tag, isTag bool) {
	t = tag{name: key, from: len(p.all)}
	p.Enter()
	for {
		inner, at, ok := p.Key()
		if ok {
			t.twice.add(inner, at)
		}
		switch {
		case !ok:
			t.to = len(p.all)
			return t, isTag
		case inner == "tasks" && p.Peek() == '[' && !isTag:
			isTag = true
			p.readArray(nil)
		default:
			t.beside = append(t.beside, member{inner, gjson.Parse(p.Skip())})
		}
	}
}

// chooseTag keeps the items of the tag that is wanted, else of "master", which Task
// Master itself begins with, else of the only tag. At is the offset for problems.
func (p *parser) chooseTag(tags []tag, at int) {
	for _, t := range tags {
		p.tags = append(p.tags, "#"+plain.Line(t.name, 80))
	}
	names := plain.Line(strings.Join(p.tags, ", "), 500)
	t := tags[0]
	if i := slices.IndexFunc(tags, func(t tag) bool { return t.name == cmp.Or(p.how.Tag, "master") }); i >= 0 {
		t = tags[i]
	} else if p.how.Tag != "" {
		p.fail(at, "there is no tag %q; there are %s", plain.Line(p.how.Tag, 80), names)
	} else if len(tags) > 1 {
		p.fail(at, `several tags, and none of them is "master"; name one behind the file: %s`, names)
	}
	t.twice.refuse(p)
	p.shape, p.all, p.beside = tasks, p.all[t.from:t.to], append(p.beside, t.beside...)
}
