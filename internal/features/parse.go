package features

import (
	"bytes"
	"cmp"
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
	Tag  string    // of a Task Master file, as Named returns it; "" is "master", or the only one
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

// maxLevel bounds how deep subtasks are nested. The text of subtasks is read once for
// each level above it.
const maxLevel = 4

// parser reads a list in one pass over its text.
type parser struct {
	jsontext.Scanner
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
}

// fail records a problem at an offset of the text.
func (p *parser) fail(at int, format string, args ...any) {
	if len(p.problems) < MaxProblems {
		p.problems = append(p.problems, jsontext.ErrorAt([]byte(p.Text), at, fmt.Sprintf(format, args...)))
	}
}

// remark records what is odd at an offset of the text, and no problem.
func (p *parser) remark(at int, format string, args ...any) {
	if len(p.remarks) < MaxProblems {
		p.remarks = append(p.remarks, jsontext.ErrorAt([]byte(p.Text), at, fmt.Sprintf(format, args...)))
	}
}

// parse returns what can be read of a list, and its problems. A list with a syntax
// error is empty and has one problem.
func (r Reading) parse(data []byte) (List, []error) {
	text := bytes.TrimPrefix(data, jsontext.BOM)
	p := &parser{Scanner: jsontext.Scanner{Text: jsontext.String(text)}, how: r}
	err := p.read(text)
	if err != nil {
		return List{Reading: r, bom: len(data) - len(text)}, []error{err}
	}
	if r.Tag != "" && p.tags == nil {
		p.fail(0, "there is no tag %q; the list has none", plain.Line(r.Tag, 80))
	}
	list := List{
		Tags: p.tags, shape: p.shape, remarks: p.remarks, all: p.all, HasEntries: p.entries,
		Reading: r, bom: len(data) - len(text), text: jsontext.String(text), LeftOut: p.leftOut, Slips: p.slips,
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
	first := p.Peek()
	rest := bytes.TrimSpace(text[min(p.Pos+1, len(text)):])
	isArray := len(rest) == 0 || strings.IndexByte(`{["]`, rest[0]) >= 0 // else it is Markdown that begins with a link
	switch {
	case first == 0 && len(bytes.TrimSpace(text)) == 0:
		return jsontext.ErrorAt(text, 0, "nothing here, want JSON or Markdown with checkboxes")
	case first == '{' || first == '[' && isArray:
	case p.readMarkdown():
		return nil
	case first >= 0xfe: // half of the byte order mark of UTF-16
		return jsontext.ErrorAt(text, 0, "this is UTF-16, as PowerShell's > writes; save it as UTF-8")
	case first != '[':
		return jsontext.ErrorAt(text, p.Pos, wantedShape+", or Markdown with checkboxes such as \"- [ ] title\"")
	}
	p.readJSON()
	return p.Err()
}

const wantedShape = `want an array of features, or an object with "features", "userStories", "stories" or "tasks"`

func (p *parser) readJSON() {
	if p.Peek() == '[' {
		p.shape = array
		p.readArray(nil)
		return
	}
	begin := p.Pos
	o := p.readObject("", true)
	end := p.Pos
	switch {
	case o.isList:
		p.choose(o)
	case len(o.tags) > 0:
		p.refuseTwice(o)
		p.choose(p.chooseTag(o.tags, begin))
	case p.Peek() == '{' || o.itemKeys >= 3 && p.Err() == nil && !strings.Contains(p.Text[begin:end], "\n"):
		p.readLines()
	default:
		p.fail(begin, wantedShape)
	}
}

// Keys of what has the items: an object with a list of any shape, and an array of objects with "tasks".
const (
	prdKey    = "prd"
	phasesKey = "phases"
)

// object is what an object of the text says of a list.
type object struct {
	name     string // its key
	isList   bool   // it has an array of items, which are parser.all[from:to]
	shape    shape
	from, to int
	tags     []object // the lists of a Task Master file
	itemKeys int      // how many of its keys are those of an item
	twice    string   // a key that is there twice; readers differ in which of the two they take
	twiceAt  int      // offset of the second one
}

// readObject reads the object that comes next. isText: it is the whole text. The text and the object of prdKey can have
// any shape; the object of any other key can only be a tag.
func (p *parser) readObject(name string, isText bool) object {
	o := object{name: name}
	of := []shape{tasks}
	if isText || name == prdKey {
		of = shapes
	}
	seen := map[string]bool{}
	p.Enter()
	for {
		key, at, ok := p.Key()
		if !ok {
			return o
		}
		if seen[key] && o.twiceAt == 0 {
			o.twice, o.twiceAt = key, at
		}
		seen[key] = true
		i := slices.IndexFunc(of, func(s shape) bool { return s.key == key })
		switch next := p.Peek(); {
		case i >= 0 && next == '[':
			if o.isList {
				p.fail(at, "more than one array of features in one object; leave one of them")
			}
			o.isList, o.shape, o.from = true, of[i], len(p.all)
			p.readArray(nil)
			o.to = len(p.all)
		case key == phasesKey && isText && !o.isList && gjson.Get(p.Text[p.Pos:], "0.tasks").IsArray():
			o.isList, o.shape, o.from = true, tasks, len(p.all)
			p.readPhases()
			o.to = len(p.all)
		case next == '{' && isText && !o.isList:
			if tag := p.readObject(key, false); tag.isList {
				o.tags = append(o.tags, tag)
			}
		default:
			if markOf(key) != noMark || slices.Contains(titleKeys(), key) || key == "id" {
				o.itemKeys++
			}
			p.Skip()
		}
	}
}

// readPhases reads the array of phases that comes next, and the tasks of each.
func (p *parser) readPhases() {
	p.Enter()
	for n := 1; p.Elem(); n++ {
		at := p.Pos
		if p.Peek() != '{' {
			p.Skip()
			p.fail(at, `phase %d is not an object with "tasks"`, n)
			continue
		}
		phase := p.readObject("", false)
		p.refuseTwice(phase)
		if !phase.isList {
			p.fail(at, `phase %d has no "tasks"`, n)
		}
	}
}

// choose keeps the items of an object, and no others.
func (p *parser) choose(o object) {
	p.refuseTwice(o)
	p.shape, p.all = o.shape, p.all[o.from:o.to]
}

func (p *parser) refuseTwice(o object) {
	if o.twiceAt > 0 {
		p.fail(o.twiceAt, "the key %q is there twice; leave one of them", plain.Line(o.twice, 80))
	}
}

// readLines reads one object after another, from the beginning of the text.
func (p *parser) readLines() {
	p.shape, p.all = lines, nil
	p.Scanner = jsontext.Scanner{Text: p.Text}
	for n := 1; p.Peek() == '{'; n++ {
		p.From = p.Pos
		p.readElement(nil, n)
	}
}

// readArray reads the array that comes next: that of a list, or the subtasks of task.
func (p *parser) readArray(task *Item) {
	if p.all == nil { // one that grows is copied again and again
		p.all = make([]Item, 0, min(strings.Count(p.Text, "{"), maxItems))
	}
	p.Enter()
	for n := 1; p.Elem(); n++ {
		p.readElement(task, n)
	}
}

// readElement reads the value that comes next, which should be an item. N counts from 1
// within its array.
func (p *parser) readElement(task *Item, n int) {
	switch at := p.Pos; {
	case p.Peek() != '{':
		p.Skip()
		p.fail(at, `item %d is not an object, such as {"title": "Log in", "passes": false}`, n)
	case len(p.all) == maxItems:
		p.fail(at, "more than %d items", maxItems)
		p.Skip()
	default:
		p.readItem(task, n)
	}
}

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
		p.fail(at, `several tags, and none of them is "master"; name one behind the file: %s`, names)
	}
	return tags[0]
}

// fields are the values of an item's keys, as JSON; empty where it lacks the key.
type fields struct {
	id, title, status, priority string
	out                         bool   // it is no work, by another key than its status
	later                       bool   // it is put off
	kind                        string // the kind of a record of beads
	idAt                        int    // offset in the text
	subtasks                    string
	subtasksAt                  int
	marks                       [checkbox]bool // keys of the item that are marks
}

// readItem reads the object that comes next, and its subtasks. Task is the item that it
// is a part of, or nil.
func (p *parser) readItem(task *Item, n int) {
	item := Item{Priority: noPriority, number: n, at: p.Pos, isSubtask: task != nil}
	var f fields
	p.Enter()
	for {
		key, at, ok := p.Key()
		if !ok {
			break
		}
		p.readField(&item, &f, key, at)
	}
	item.raw = p.Text[item.at:p.Pos]
	if f.kind != "" && f.kind != `"issue"` && f.title == "" {
		return // a memory or a setting among the items of beads
	}
	p.setID(&item, &f, task)
	s, _ := stateOf(unquote(f.status))
	item.setState(s, unquote(f.priority), f.out, task)
	if f.subtasks != "" {
		before := len(p.all)
		p.readSubtasks(&item, &f)
		item.subtasks = len(p.all) - before
	}
	item.later = f.later && !item.Passes && !item.dropped
	p.all = append(p.all, item)
}

// readField reads the value of a key that begins at an offset of the text.
func (p *parser) readField(item *Item, f *fields, key string, at int) {
	begin := p.Pos
	value := p.Skip()
	switch key {
	case "id":
		if f.id != "" {
			p.fail(at, `item %d has the key "id" twice; leave one of them`, item.number)
		}
		f.id, f.idAt = value, begin
	case "priority":
		f.priority = value
	case "subtasks":
		first := strings.TrimLeft(strings.TrimPrefix(value, "["), " \t\r\n")
		switch {
		case p.level == maxLevel:
			p.fail(at, "subtasks nested deeper than %d levels", maxLevel)
		case !strings.HasPrefix(value, "["), strings.HasPrefix(first, "]"):
		case strings.HasPrefix(first, "{"):
			f.subtasks, f.subtasksAt = value, begin
		default:
			p.remark(begin, "the subtasks of item %d are no objects, such as {\"title\": \"Log in\"}; "+
				"it is handed out as a whole", item.number)
		}
	case "_type":
		f.kind = value
	case "issue_type":
		f.out = f.out || typesWithoutWork()[strings.ToLower(unquote(value))]
	case "defer_until":
		f.later = isLater(unquote(value), p.how.Now)
	case "title", "name":
		if f.title == "" || key == "title" {
			f.title = value
		}
	default:
		switch {
		case markOf(key) != noMark:
			p.setMark(item, f, key, value, at, begin)
		case slices.Contains(entryKeys(), key):
			item.hasEntries, p.entries = true, true
		case slices.Contains(outKeys, key):
			f.out = f.out || value == "true"
		case slices.Contains(needKeys, key) && value != "[]" && value != `""` && value != "null":
			item.needs = value
		}
	}
}

// setMark takes a value as the mark of the item if it outweighs the one so far. At is
// the offset of the key, begin that of the value.
func (p *parser) setMark(item *Item, f *fields, key, value string, at, begin int) {
	m := markOf(key)
	// JSON readers differ in which of two equal keys they take. A list with two would
	// mean one thing to us and another to the agent.
	if f.marks[m] {
		p.fail(at, "item %d has the key %q twice; leave one of them", item.number, key)
	}
	f.marks[m] = true
	isFlag := value == "true" || value == "false" || value == "null"
	_, known := stateOf(unquote(value))
	switch {
	case m == stateMark && !known:
		return
	case m.isWord():
		if f.marks[status] && m < status {
			return
		}
		f.status = value
	case m == passes && !isFlag:
		p.fail(begin, `item %d: "passes" must be true or false%s`, item.number, notFlag(value))
	case m < passes && (!isFlag || value == "null"):
		return
	}
	if m > item.mark {
		item.mark, item.markAt, item.markLen, item.Passes = m, begin, len(value), value == "true"
	}
}

// notFlag says what is wrong with a value that is neither true nor false.
func notFlag(value string) string {
	if word := strings.ToLower(unquote(value)); word == "true" || word == "false" {
		return fmt.Sprintf(", not text: write %s without quotes", word)
	}
	return ", not " + plain.Line(value, 40)
}

// readSubtasks reads the text of an item's subtasks again, now as items.
func (p *parser) readSubtasks(item *Item, f *fields) {
	outer := p.Scanner
	p.Scanner = jsontext.Scanner{Text: p.Text[:f.subtasksAt+len(f.subtasks)], Pos: f.subtasksAt}
	p.level++
	p.readArray(item)
	p.level--
	p.Scanner = outer
}

// setID gives an item the id that the list has for it, else one made of its title, else
// one made of its number. A subtask has the id of its task before its own, and a dot.
func (p *parser) setID(item *Item, f *fields, task *Item) {
	item.ID = p.validID(f, item.number)
	if item.ID == "" {
		item.ID, item.Derived = slug(unquote(f.title)), true
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
	value := f.id
	if value == "" || value[0] != '"' && value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return ""
	}
	id := unquote(value)
	if id == "" || (id[0] <= ' ' || id[0] > '~') && plain.Line(id, maxID) == "" {
		return ""
	}
	if len(id) > maxID {
		p.fail(f.idAt, "the id of item %d is longer than %d bytes", n, maxID)
		return ""
	}
	return strings.Clone(id) // a run keeps ids, and not the text of each list that it has read
}

// unquote returns the text of a JSON string, and any other value as it is written.
func unquote(value string) string {
	if len(value) < 2 || value[0] != '"' {
		return value
	}
	if inner := value[1 : len(value)-1]; strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	return jsontext.Unquote(value)
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
