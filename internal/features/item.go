package features

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

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
	s, _ := p.stateOf(unquote(f.status))
	item.setState(s, unquote(f.priority), f.out, task)
	if f.subtasks != "" {
		before := len(p.all)
		p.readSubtasks(&item, &f)
		item.subtasks = len(p.all) - before
	}
	item.later = f.later && !item.Passes && !item.dropped
	item.waits = item.later
	p.hasNeeds = p.hasNeeds || item.needs != "" || item.subtasks > 0 || item.isSubtask
	p.hasDropped = p.hasDropped || item.dropped
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
	case "passes", "completed", "status", "state", "finished", "done", "complete", "passed", "passing": // markKeys
		p.setMark(item, f, key, value, at, begin)
	case "priority":
		f.priority = value
	case "subtasks":
		if p.level == maxLevel {
			p.fail(at, "subtasks nested deeper than %d levels", maxLevel)
		} else if strings.HasPrefix(value, "[") {
			f.subtasks, f.subtasksAt = value, begin
		}
	case "deprecated", "obsolete", "cancelled", "canceled", "skipped", "archived", "deferred",
		"pinned", "ephemeral", "is_template": // outKeys
		f.out = f.out || value == "true"
	case "_type":
		f.kind = value
	case "issue_type":
		f.out = f.out || typesWithoutWork()[strings.ToLower(unquote(value))]
	case "defer_until":
		p.timed = true
		f.later = isLater(unquote(value), p.how.Now)
	case "title", "name":
		if f.title == "" || key == "title" {
			f.title = value
		}
	case "dependencies", "dependsOn", "depends_on", "blocked_by", "blockedBy": // needKeys
		if value != "[]" && value != `""` && value != "null" {
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
	p.unknown = p.unknown || m.isWord() && !p.isStatus(value)
	isFlag := value == "true" || value == "false" || value == "null"
	switch {
	case m == stateMark && !p.isStatus(value):
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

// readSubtasks reads the text of an item's subtasks again, now as items. If one of them is no
// object, the item has no subtasks.
func (p *parser) readSubtasks(item *Item, f *fields) {
	outer := p.Scanner
	p.Scanner = jsontext.Scanner{Text: p.Text[:f.subtasksAt+len(f.subtasks)], Pos: f.subtasksAt}
	from, problems := len(p.all), len(p.problems)
	p.level++
	p.readArray(item)
	p.level--
	p.Scanner = outer
	if p.refused {
		p.all, p.problems, p.refused = p.all[:from], p.problems[:problems], false
		p.remark(f.subtasksAt, "the subtasks of item %d are no objects, such as {\"title\": \"Log in\"}; "+
			"it is handed out as a whole", item.number)
	}
}

// setID gives an item the id that the list has for it, else one made of its title, else
// one made of its number. A subtask has the id of its task before its own, and a dot.
func (p *parser) setID(item *Item, f *fields, task *Item) {
	item.ID = p.validID(f, item.number)
	if item.ID == "" {
		item.ID, item.derived = slug(unquote(f.title)), true
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
	return id
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
	if i.Priority = rank(priority); i.mark.isWord() {
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
func rank(priority string) float32 {
	if len(priority) == 1 && priority[0] >= '0' && priority[0] <= '9' {
		return float32(priority[0] - '0')
	}
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
			return float32(n)
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
