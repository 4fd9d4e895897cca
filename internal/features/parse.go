package features

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Reading is how a list is to be read. The zero Reading fits most.
type Reading struct {
	Tag  string    // of a Task Master file, as SplitTag returns it; "" is "master", or the only one
	Skip []string  // headings of Markdown below which nothing is work; nil means SkipHeadings
	Now  time.Time // items that are put off until later than this wait
}

// Parse reads a list. The error is a *jsontext.Error if the text is wrong, or ErrEmpty.
// The list refers to data: nobody may write to data afterwards.
func Parse(data []byte) (List, error) { return Reading{}.Parse(data) }

// Parse reads a list, as the function Parse does.
func (r Reading) Parse(data []byte) (List, error) {
	list, problems := r.parse(data)
	if len(problems) > 0 {
		return List{Reading: r}, problems[0]
	}
	if len(list.Items) == 0 {
		return list, ErrEmpty
	}
	return list, nil
}

// MaxProblems bounds how many problems, and how many notes of each kind, are reported of one list.
const MaxProblems = 50

// maxLevel bounds how deep subtasks are nested.
const maxLevel = 4

// parser reads a list.
type parser struct {
	text     string // without a byte order mark
	how      Reading
	shape    shape
	tags     []string
	all      []Item // in list order, subtasks before their task
	level    int    // how many arrays of subtasks the parser is in
	entries  bool   // an item has entries
	problems []error
	remarks  []error
	outlines []outline // of the items of Markdown
	leftOut  LineNotes
	slips    LineNotes
	unread   LineNotes
}

// fail records a problem at an offset of the text.
func (p *parser) fail(at int, format string, args ...any) {
	if len(p.problems) < MaxProblems {
		p.problems = append(p.problems, jsontext.ErrorAt([]byte(p.text), at, fmt.Sprintf(format, args...)))
	}
}

// remark records what is odd at an offset of the text, and no problem.
func (p *parser) remark(at int, format string, args ...any) {
	if len(p.remarks) < MaxProblems {
		p.remarks = append(p.remarks, jsontext.ErrorAt([]byte(p.text), at, fmt.Sprintf(format, args...)))
	}
}

// parse returns what can be read of a list, and its problems. A list with a syntax
// error is empty and has one problem.
func (r Reading) parse(data []byte) (List, []error) {
	text := bytes.TrimPrefix(data, jsontext.BOM)
	p := &parser{text: jsontext.String(text), how: r}
	err := p.read(text)
	if err != nil {
		return List{Reading: r, bom: len(data) - len(text)}, []error{err}
	}
	if r.Tag != "" && p.tags == nil {
		p.fail(0, "there is no tag %q; the list has none", plain.Line(r.Tag, 80))
	}
	list := List{
		Tags: p.tags, shape: p.shape, remarks: p.remarks, all: p.all, HasEntries: p.entries,
		Reading: r, bom: len(data) - len(text), text: p.text,
		LeftOut: p.leftOut, Slips: p.slips, Unread: p.unread,
	}
	list.assignIDs(p)
	if p.shape == checkboxes {
		list.nameNeeds(p.outlines)
	}
	list.findWaiting()
	list.splitDropped()
	return list, p.problems
}

// read reads JSON or Markdown into p.all. It returns an error if the text is neither.
func (p *parser) read(text []byte) error {
	content := bytes.TrimSpace(text)
	switch {
	case len(content) == 0:
		return jsontext.ErrorAt(text, 0, "nothing here, want JSON or Markdown with checkboxes")
	case content[0] == '{':
		return p.readObjects(text)
	case content[0] == '[' && !isLink(content):
		return p.readList(text)
	case p.readMarkdown():
		return nil
	case content[0] >= 0xfe: // half of the byte order mark of UTF-16
		return jsontext.ErrorAt(text, 0, "this is UTF-16, as PowerShell's > writes; save it as UTF-8")
	case content[0] == '[':
		return p.readList(text)
	}
	return jsontext.ErrorAt(text, bytes.Index(text, content),
		wantedShape+", or Markdown with checkboxes such as \"- [ ] title\"")
}

// isLink reports whether a text that begins with a bracket is Markdown, and no array of JSON.
func isLink(text []byte) bool {
	rest := bytes.TrimSpace(text[1:])
	return len(rest) > 0 && strings.IndexByte(`{["]`, rest[0]) < 0
}

const wantedShape = `want an array of features, or an object with "features", "userStories", "stories" or "tasks"`

// readList reads a text that is one array.
func (p *parser) readList(text []byte) error {
	_, err := jsontext.Check(text)
	if err != nil {
		return err
	}
	p.shape = array
	p.readArray(gjson.Parse(p.text), nil)
	return nil
}

// readObjects reads a text that is one object with items in it, or a line for each item.
func (p *parser) readObjects(text []byte) error {
	_, err := jsontext.Check(text)
	if err != nil {
		first, others, _ := bytes.Cut(bytes.TrimLeft(text, " \t\r\n"), []byte("\n"))
		_, broken := jsontext.Check(first)
		isWhole := slices.ContainsFunc(shapes, func(s shape) bool { return gjson.GetBytes(first, s.key).IsArray() })
		if broken != nil || isWhole || len(bytes.TrimSpace(others)) == 0 {
			return err
		}
		return p.readLines(text)
	}
	v := gjson.Parse(p.text)
	o := p.readObject(v, "", true)
	switch {
	case o.isList:
		p.choose(o)
	case len(o.tags) > 0:
		p.refuseDuplicate(o)
		p.choose(p.chooseTag(o.tags, v.Index))
	case o.itemKeys >= 3 && !strings.Contains(strings.TrimSpace(p.text), "\n"):
		return p.readLines(text)
	default:
		p.fail(v.Index, wantedShape)
	}
	return nil
}

// Keys of what has the items: an object with a list of any shape, and an array of objects with "tasks".
const (
	prdKey    = "prd"
	phasesKey = "phases"
)

// object is what an object of the text says of a list.
type object struct {
	name        string // its key
	isList      bool   // it has an array of items, which are parser.all[from:to]
	shape       shape
	from, to    int
	tags        []object // the lists of a Task Master file
	itemKeys    int      // how many of its keys are those of an item
	duplicate   string   // a key that is there twice; readers differ in which of the two they take
	duplicateAt int      // offset of the second one
}

// readObject reads an object. isText: it is the whole text. The text and the object of prdKey can have any shape; the
// object of any other key can only be a tag.
func (p *parser) readObject(v gjson.Result, name string, isText bool) object {
	o := object{name: name}
	of := []shape{tasks}
	if isText || name == prdKey {
		of = shapes
	}
	seen := map[string]bool{}
	for key, value := range v.ForEach {
		if seen[key.Str] && o.duplicateAt == 0 {
			o.duplicate, o.duplicateAt = key.Str, key.Index
		}
		seen[key.Str] = true
		i := slices.IndexFunc(of, func(s shape) bool { return s.key == key.Str })
		switch {
		case i >= 0 && value.IsArray():
			if o.isList {
				p.fail(key.Index, "more than one array of features in one object; keep one")
			}
			o.isList, o.shape, o.from = true, of[i], len(p.all)
			p.readArray(value, nil)
			o.to = len(p.all)
		case key.Str == phasesKey && isText && !o.isList && value.Get("0.tasks").IsArray():
			o.isList, o.shape, o.from = true, tasks, len(p.all)
			p.readPhases(value)
			o.to = len(p.all)
		case isText && slices.Contains(needKeys, key.Str):
			if !isEmpty(value.Raw) {
				p.unread.add(p.lineAt(key.Index), key.Str, value.Raw)
			}
		case value.IsObject() && isText && !o.isList:
			if tag := p.readObject(value, key.Str, false); tag.isList {
				o.tags = append(o.tags, tag)
			}
		case markOf(key.Str) != noMark, slices.Contains(titleKeys(), key.Str), key.Str == "id":
			o.itemKeys++
		}
	}
	return o
}

// readPhases reads an array of phases, and the tasks of each.
func (p *parser) readPhases(v gjson.Result) {
	for n, value := range v.ForEach {
		if !value.IsObject() {
			p.fail(value.Index, `phase %d is not an object with "tasks"`, n.Int()+1)
			continue
		}
		phase := p.readObject(value, "", false)
		p.refuseDuplicate(phase)
		name := plain.Line(value.Get("name").Str, 100)
		for n := range p.all[phase.from:phase.to] {
			p.all[phase.from+n].Heading = name
		}
		if !phase.isList {
			p.fail(value.Index, `phase %d has no "tasks"`, n.Int()+1)
		}
	}
}

// choose keeps the items of an object, and no others.
func (p *parser) choose(o object) {
	p.refuseDuplicate(o)
	p.shape, p.all = o.shape, p.all[o.from:o.to]
}

func (p *parser) refuseDuplicate(o object) {
	if o.duplicateAt > 0 {
		p.fail(o.duplicateAt, "the key %q appears twice; remove one", plain.Line(o.duplicate, 80))
	}
}

// readLines reads a text with one object a line.
func (p *parser) readLines(text []byte) error {
	p.shape, p.all, p.unread = lines, nil, LineNotes{} // the first item was read as what holds a list
	at, number := 0, 0
	for line := range bytes.Lines(text) {
		number++
		if len(bytes.TrimSpace(line)) > 0 {
			_, err := jsontext.Check(line)
			if wrong, is := errors.AsType[*jsontext.Error](err); is {
				wrong.Line = number
				return wrong
			}
			value := gjson.Parse(jsontext.String(line))
			value.Index += at
			value.Raw = strings.TrimSpace(value.Raw)
			p.readElement(value, nil, len(p.all)+1)
		}
		at += len(line)
	}
	return nil
}

// readArray reads an array: that of a list, or the subtasks of task.
func (p *parser) readArray(v gjson.Result, task *Item) {
	if p.all == nil { // one that grows is copied again and again
		p.all = make([]Item, 0, min(strings.Count(p.text, "{"), maxItems))
	}
	n := 0
	for _, value := range v.ForEach {
		n++
		p.readElement(value, task, n)
	}
}

// readElement reads a value that should be an item. n counts from 1 within its array.
func (p *parser) readElement(v gjson.Result, task *Item, n int) {
	switch {
	case !v.IsObject():
		p.fail(v.Index, `item %d must be an object, such as {"title": "Log in", "passes": false}`, n)
	case len(p.all) == maxItems:
		p.fail(v.Index, "more than %d items", maxItems)
	default:
		p.readItem(v, task, n)
	}
}

// SplitTag splits the name of a list into its file and its tag: "tasks.json#ui" is the tag
// "ui" of the Task Master file tasks.json. The tag is empty if the name has none.
func SplitTag(name string) (file, tag string) {
	if dir, base := path.Split(filepath.ToSlash(name)); strings.Contains(base, jsonTag) {
		i := len(dir) + strings.Index(base, jsonTag) + len(jsonTag)
		return name[:i-1], name[i:]
	}
	return name, ""
}

const jsonTag = ".json#"

// chooseTag returns the tag that is wanted, else "master", which Task
// Master itself begins with, else the only tag. At is the offset for problems.
func (p *parser) chooseTag(tags []object, at int) object {
	for _, t := range tags {
		p.tags = append(p.tags, "#"+plain.Line(t.name, 80))
	}
	names := plain.Line(strings.Join(p.tags, ", "), 500)
	wanted := cmp.Or(p.how.Tag, "master")
	i := slices.IndexFunc(tags, func(t object) bool { return t.name == wanted })
	switch {
	case i >= 0:
		return tags[i]
	case p.how.Tag != "":
		p.fail(at, "there is no tag %q; there are %s", plain.Line(p.how.Tag, 80), names)
	case len(tags) > 1:
		p.fail(at, `several tags, and none of them is "master"; name one after the file: %s`, names)
	}
	return tags[0]
}

// fields are the values of an item's keys; they do not exist where it lacks the key.
type fields struct {
	id, title, status, priority, subtasks gjson.Result

	out   bool           // it is no work, by another key than its status
	later bool           // it is put off
	kind  string         // the kind of a record of beads
	marks [checkbox]bool // keys of the item that are marks
}

// readItem reads an object, and its subtasks. task is the item that it is a part of, or nil.
func (p *parser) readItem(v gjson.Result, task *Item, n int) {
	item := Item{Priority: noPriority, number: n, at: v.Index, raw: v.Raw, isSubtask: task != nil}
	var f fields
	for key, value := range v.ForEach {
		p.readField(&item, &f, key, value)
	}
	if f.kind != "" && f.kind != "issue" && !f.title.Exists() {
		return // a memory or a setting among the items of beads
	}
	p.setID(&item, &f, task)
	s, _ := stateOf(f.status.String())
	item.setState(s, f.priority.String(), f.out, task)
	if f.subtasks.Exists() {
		before := len(p.all)
		p.level++
		p.readArray(f.subtasks, &item)
		p.level--
		item.subtasks = len(p.all) - before
	}
	item.later = f.later && !item.Passes && !item.dropped
	p.all = append(p.all, item)
}

// readField reads the value of a key.
func (p *parser) readField(item *Item, f *fields, key, value gjson.Result) {
	switch key.Str {
	case "id":
		if f.id.Exists() {
			p.fail(key.Index, `item %d has the key "id" twice; remove one`, item.number)
		}
		f.id = value
	case "priority":
		f.priority = value
	case "subtasks":
		first := value.Get("0")
		switch {
		case p.level == maxLevel:
			p.fail(key.Index, "subtasks nested deeper than %d levels", maxLevel)
		case !value.IsArray(), !first.Exists():
		case first.IsObject():
			f.subtasks = value
		default:
			p.remark(value.Index, "the subtasks of item %d are no objects, such as {\"title\": \"Log in\"}; "+
				"it is handed out as a whole", item.number)
		}
	case "_type":
		f.kind = value.String()
	case "issue_type":
		f.out = f.out || typesWithoutWork()[strings.ToLower(value.String())]
	case "defer_until":
		f.later = isLater(value.String(), p.how.Now)
	case "title", "name":
		if !f.title.Exists() || key.Str == "title" {
			f.title = value
		}
	default:
		switch {
		case markOf(key.Str) != noMark:
			p.setMark(item, f, key, value)
		case slices.Contains(entryKeys(), key.Str):
			item.hasEntries, p.entries = true, true
		case slices.Contains(outKeys, key.Str):
			f.out = f.out || value.Type == gjson.True
		case slices.Contains(needKeys, key.Str) && !isEmpty(value.Raw):
			needs := value.Raw
			if item.needs != "" {
				needs = "[" + item.needs + "," + needs + "]"
			}
			item.needs = needs
			if strings.Contains(needs, "{") && !isReadable(needs) {
				p.unread.add(p.lineAt(key.Index), key.Str, needs)
			}
		case unreadNeeds()[key.Str] && !isEmpty(value.Raw):
			p.unread.add(p.lineAt(key.Index), key.Str, value.Raw)
		}
	}
}

// isEmpty reports whether a value is as good as no value.
func isEmpty(value string) bool {
	switch value {
	case "[]", "{}", `""`, "null", "false":
		return true
	}
	return false
}

// lineAt returns the number of the line of an offset, 0 if more is noted than anybody reads.
func (p *parser) lineAt(at int) int {
	if p.unread.All >= MaxProblems {
		return 0
	}
	return strings.Count(p.text[:at], "\n") + 1
}

// setMark takes a value as the mark of the item if it outweighs the one so far.
func (p *parser) setMark(item *Item, f *fields, key, value gjson.Result) {
	m := markOf(key.Str)
	// JSON readers differ in which of two equal keys they take. A list with two would
	// mean one thing to us and another to the agent.
	if f.marks[m] {
		p.fail(key.Index, "item %d has the key %q twice; remove one", item.number, key.Str)
	}
	f.marks[m] = true
	isFlag := value.IsBool() || value.Type == gjson.Null
	_, known := stateOf(value.String())
	switch {
	case m == stateMark && (!known || value.Type == gjson.Null):
		return
	case m.isWord():
		if f.marks[status] && m < status {
			return
		}
		f.status = value
	case m == passes && !isFlag:
		p.fail(value.Index, `item %d: "passes" must be true or false%s`, item.number, notFlag(value))
	case m < passes && !value.IsBool():
		return
	}
	if m > item.mark {
		item.mark, item.markAt, item.markLen = m, value.Index, len(value.Raw)
		item.Passes = value.Type == gjson.True
	}
}

// notFlag says what is wrong with a value that is neither true nor false.
func notFlag(value gjson.Result) string {
	if word := strings.ToLower(value.String()); word == "true" || word == "false" {
		return fmt.Sprintf(", not text: write %s without quotes", word)
	}
	return ", not " + plain.Line(value.Raw, 40)
}

// setID gives an item the id that the list has for it, else one made of its title, else
// one made of its number. A subtask has the id of its task before its own, and a dot.
func (p *parser) setID(item *Item, f *fields, task *Item) {
	item.ID = p.validID(f, item.number)
	if item.ID == "" {
		item.ID, item.Derived = slug(f.title.String()), true
	}
	if item.ID == "" {
		item.ID = "#" + strconv.Itoa(item.number)
	}
	if task != nil && !strings.HasPrefix(item.ID, task.ID+".") { // some lists spell it out
		item.ID = task.ID + "." + item.ID
	}
}

// validID returns the id that the list has for its item n, or nothing: it has to be a
// string or a number, visible, and at most maxID bytes long.
func (p *parser) validID(f *fields, n int) string {
	id := f.id.Str
	if f.id.Type == gjson.Number {
		id = f.id.Raw
	}
	if id == "" || (id[0] <= ' ' || id[0] > '~') && plain.Line(id, maxID) == "" {
		return ""
	}
	if len(id) > maxID {
		p.fail(f.id.Index, "the id of item %d is longer than %d bytes", n, maxID)
		return ""
	}
	return strings.Clone(id) // a run keeps ids, and not the text of each list that it has read
}

// setState sets Priority, Blocked and dropped, and Passes where the status decides it. Out
// says that a key of the item takes it out of the work. A subtask is dropped, blocked or
// done where its task is.
func (i *Item) setState(s state, priority string, out bool, task *Item) {
	i.Priority = rank(priority)
	if i.mark.isWord() {
		i.Passes = s == done
	}
	if out {
		s = dropped
	}
	if i.Priority == noPriority {
		if n, _ := stateOf(priority); n == dropped { // some lists cancel an item by its priority
			s = dropped
		}
	}
	switch {
	case task != nil && task.dropped:
		s = dropped
	case task != nil && task.Blocked && s != dropped:
		s = blocked
	}
	if task != nil && task.Passes && !i.Passes { // what opens the task again opens this, too
		i.Passes, i.mark, i.markAt, i.markLen = true, task.mark, task.markAt, task.markLen
	}
	i.dropped, i.Blocked = s == dropped, s == blocked && !i.Passes
}

// isLater tells whether a time, or a day, is after now.
func isLater(text string, now time.Time) bool {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = time.ParseInLocation(time.DateOnly, text, now.Location())
	}
	return err == nil && t.After(now)
}

// rank reads a priority: a number, "P0" to "P9", or a word. Lower is first.
func rank(priority string) float64 {
	switch word := strings.ToLower(priority); word {
	case "critical", "urgent", "highest":
		return 0
	case "high":
		return 1
	case "medium", "normal":
		return 2
	case "low":
		return 3
	case "lowest":
		return 4
	case "":
	default:
		if n, err := strconv.ParseFloat(strings.TrimPrefix(word, "p"), 64); err == nil && n > -1e9 && n < 1e9 {
			return n
		}
	}
	return noPriority
}

// slug makes an id of a title: letters and digits in lower case, with hyphens between,
// some 60 bytes at most. It is safe to show and to pass to a command.
func slug(title string) string {
	var b strings.Builder
	for _, r := range plain.Line(title, 200) {
		switch {
		case b.Len() >= 60:
			return b.String()
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(unicode.ToLower(r))
		case b.Len() > 0 && b.String()[b.Len()-1] != '-':
			b.WriteByte('-')
		}
	}
	return strings.TrimRight(b.String(), "-")
}
