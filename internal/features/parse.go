package features

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Parse reads a list. The error is a *jsontext.Error where the text is at
// fault, or ErrEmpty. The list goes on using data: nobody may write to it.
func Parse(data []byte) (List, error) { return ParseTag(data, "") }

// ParseTag reads the list of one tag, of those that Named tells.
func ParseTag(data []byte, tag string) (List, error) {
	list, problems := parse(data, tag)
	if len(problems) > 0 {
		return List{tag: tag}, problems[0]
	}
	if len(list.Items) == 0 {
		return List{tag: tag}, ErrEmpty
	}
	return list, nil
}

// maxProblems bounds what is said of one list.
const maxProblems = 50

// parser reads a list in one pass over its text.
type parser struct {
	jsontext.Scanner
	shape    shape
	valid    string // rules.valid_status
	all      []Item // in list order, subtasks before their task
	level    int    // of subtasks
	want     string // the tag to read, empty: "master"
	tags     []string
	reserved bool // all has had its room
	traits
	problems []error
}

// traits are what items may have that most have not, so that long lists need not be
// looked through for it.
type traits struct {
	shuffled bool // ids do not ascend, or are derived
	tied     bool // some may wait for others
	aside    bool // some are no work
}

func (t *traits) add(u traits) {
	t.shuffled, t.tied, t.aside = t.shuffled || u.shuffled, t.tied || u.tied, t.aside || u.aside
}

// maxLevel bounds how deep subtasks are nested: what is below each is read again.
const maxLevel = 4

func (p *parser) fail(at int, format string, args ...any) {
	if len(p.problems) < maxProblems {
		p.problems = append(p.problems, jsontext.ErrorAt([]byte(p.Text), at, fmt.Sprintf(format, args...)))
	}
}

// parse returns what can be read of a list, and what is wrong with it. A list with
// a syntax error has nothing else.
func parse(data []byte, tag string) (List, []error) {
	text := bytes.TrimPrefix(data, jsontext.BOM)
	p := &parser{Scanner: jsontext.Scanner{Text: jsontext.String(text)}, want: tag}
	list, problems := p.parse(text)
	list.bom, list.tag = len(data)-len(text), tag
	return list, problems
}

func (p *parser) parse(text []byte) (List, []error) {
	if first := p.Peek(); first == 0 && len(bytes.TrimSpace(text)) == 0 {
		return List{}, []error{jsontext.ErrorAt(text, 0, "nothing here, want JSON or Markdown with checkboxes")}
	} else if first == '{' || first == '[' && looksLikeArray(text[p.Pos+1:]) || !p.checkboxes() {
		if first >= 0xfe { // half of its byte order mark
			return List{}, []error{jsontext.ErrorAt(text, 0, "this is UTF-16, as PowerShell's > writes; save it as UTF-8")}
		}
		if first != '{' && first != '[' {
			return List{}, []error{jsontext.ErrorAt(text, p.Pos, wanted+", or Markdown with checkboxes such as \"- [ ] title\"")}
		}
		p.json()
		if err := p.Err(); err != nil {
			return List{}, []error{err}
		}
	}
	if p.want != "" && p.tags == nil {
		p.fail(0, "there is no tag %q; the list has none", plain.Line(p.want, 80))
	}
	list := List{Tags: p.tags, shape: p.shape, valid: p.valid, all: p.all}
	list.name(p)
	list.order(p.traits)
	return list, p.problems
}

// looksLikeArray tells JSON from Markdown that begins with a link.
func looksLikeArray(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || bytes.IndexByte([]byte(`{["]`), text[0]) >= 0
}

func (p *parser) json() {
	begin := p.Pos
	if p.Peek() == '[' {
		p.shape = array
		p.items(nil)
		return
	}
	var tags []tag
	found, like := -1, 0
	p.Enter()
	for {
		key, at, ok := p.Key()
		if !ok {
			break
		}
		i := slices.IndexFunc(shapes, func(s shape) bool { return s.key == key })
		switch next := p.Peek(); {
		case i >= 0 && next == '[':
			if found >= 0 {
				p.fail(at, "more than one array of features in one object; leave one of them")
			}
			from := len(p.all)
			p.shape = shapes[i]
			p.items(nil)
			p.all, found = p.all[from:], i
		case next == '{' && (found < 0 || key == "rules"):
			t, is := p.tag(key)
			switch {
			case is && found < 0:
				tags = append(tags, t)
			case is:
				p.all = p.all[:t.from]
			}
		default:
			if markOf(key) != noMark || slices.Contains(titleKeys, key) || key == "id" {
				like++
			}
			p.Skip()
		}
	}
	switch end := p.Pos; {
	case found >= 0:
	case len(tags) > 0:
		p.choose(tags, begin)
	case p.Peek() == '{' || like >= 3 && p.Err() == nil && !strings.Contains(p.Text[begin:end], "\n"):
		p.shape, p.all = lines, nil
		p.Scanner = jsontext.Scanner{Text: p.Text}
		for n := 1; p.Peek() == '{'; n++ {
			p.From = p.Pos
			p.next(nil, n)
		}
	default:
		p.fail(begin, wanted)
	}
}

const wanted = `want an array of features, or an object with "features", "userStories", "stories" or "tasks"`

// items reads the array that comes next, of a list or of a task's subtasks.
func (p *parser) items(task *Item) {
	p.Enter()
	for n := 1; p.Elem(); n++ {
		p.next(task, n)
	}
}

// fewItems show how long the items of a text are.
const fewItems = 64

// reserve makes room for all items of the text at once, if they are as long as the
// ones so far. A slice that grows step by step takes several times the memory.
func (p *parser) reserve() {
	p.reserved = true
	p.all = slices.Grow(p.all, min(maxItems, len(p.Text)/(p.Pos/len(p.all)+1)))
}

// next reads what comes next, which should be an item; n counts from 1 within its
// array.
func (p *parser) next(task *Item, n int) {
	if !p.reserved && task == nil && len(p.all) >= fewItems {
		p.reserve()
	}
	switch at := p.Pos; {
	case p.Peek() != '{':
		p.Skip()
		p.fail(at, `item %d is not an object, such as {"title": "Log in", "passes": false}`, n)
	case len(p.all) == maxItems:
		p.fail(at, "more than %d items", maxItems)
		p.Skip()
	default:
		p.item(task, n)
	}
}

func (p *parser) item(task *Item, n int) {
	item := Item{Priority: noPriority, number: int32(n), at: int32(p.Pos), sub: task != nil}
	var id, title, priority, subtasks, word string
	var idAt, subsAt int
	var seen [passes + 1]bool
	p.Enter()
	for {
		key, at, ok := p.Key()
		if !ok {
			break
		}
		begin := p.Pos
		value := p.Skip()
		switch key {
		case "id":
			if id != "" {
				p.fail(at, `item %d has the key "id" twice; leave one of them`, n)
			}
			id, idAt = value, begin
		case "passes", "completed", "status":
			// JSON readers differ in which of two equal keys they take, so a
			// list with two would mean one thing to us and another to the agent.
			m := markOf(key)
			if seen[m] {
				p.fail(at, "item %d has the key %q twice; leave one of them", n, key)
			}
			seen[m] = true
			isFlag := value == "true" || value == "false" || value == "null"
			if key == "passes" && !isFlag {
				p.fail(begin, `item %d: "passes" must be true or false%s`, n, unquoted(value))
			}
			if key == "status" {
				word = value
			}
			if m > item.mark && (key != "completed" || isFlag && value != "null") {
				item.mark, item.markAt, item.markLen, item.Passes = m, int32(begin), int32(len(value)), value == "true"
			}
		case "priority":
			priority = value
		case "subtasks":
			if p.level == maxLevel {
				p.fail(at, "subtasks nested deeper than %d levels", maxLevel)
			} else if strings.HasPrefix(value, "[") {
				subtasks = p.Text[:begin+len(value)]
				subsAt = begin
			}
		case "title", "name":
			if title == "" || key == titleKeys[0] {
				title = value
			}
		case "dependencies", "dependsOn", "depends_on", "blocked_by", "blockedBy":
			if value != "[]" && value != `""` && value != "null" {
				item.needsAt, item.needsEnd = int32(begin)-item.at, int32(p.Pos)-item.at
			}
		}
	}
	item.raw = p.Text[item.at:p.Pos]
	item.ID = p.id(id, idAt, n)
	if item.ID == "" {
		item.ID, item.derived = slug(text(title)), true
	}
	if item.ID == "" {
		item.ID = "#" + strconv.Itoa(n)
	}
	if task != nil && !strings.HasPrefix(item.ID, task.ID+".") { // some spell it so themselves
		item.ID = task.ID + "." + item.ID
	}
	item.stand(text(word), text(priority), task)
	if subtasks != "" {
		from, main := len(p.all), p.Scanner
		p.Scanner = jsontext.Scanner{Text: subtasks, Pos: subsAt}
		p.level++
		p.items(&item)
		p.level--
		p.Scanner = main
		item.kids = int32(len(p.all) - from)
	}
	p.add(traits{
		shuffled: item.derived || len(p.all) > 0 && !ascends(&p.all[len(p.all)-1], &item),
		tied:     item.needsEnd > 0 || item.kids > 0 || item.sub,
		aside:    item.dropped,
	})
	p.all = append(p.all, item)
}

// id returns the id of an item, nothing where it has none: one that nobody can
// see names nothing.
func (p *parser) id(value string, at, n int) string {
	id := text(value)
	if value == "" || value[0] != '"' && value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return ""
	}
	if id == "" || (id[0] <= ' ' || id[0] > '~') && plain.Line(id, maxID) == "" {
		return ""
	}
	if len(id) > maxID {
		p.fail(at, "the id of item %d is longer than %d bytes", n, maxID)
		return ""
	}
	return id
}

// text is a string's text, and any other value as it is written.
func text(value string) string {
	if len(value) < 2 || value[0] != '"' {
		return value
	}
	if inner := value[1 : len(value)-1]; strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	return jsontext.Unquote(value)
}

// unquoted says what to write for text that stands where true or false belongs.
func unquoted(value string) string {
	if word := strings.ToLower(text(value)); word == "true" || word == "false" {
		return fmt.Sprintf(", not text: write %s without quotes", word)
	}
	return ", not " + plain.Line(value, 40)
}

// stand settles where an item stands, by its words and by the task that it is a
// part of.
func (i *Item) stand(word, priority string, task *Item) {
	s, _ := stateOf(word)
	if i.Priority = rank(priority); i.mark == status {
		i.Passes = s == done
	}
	if i.Priority == noPriority {
		if n, _ := stateOf(priority); n == dropped {
			s = dropped
		}
	}
	switch {
	case task != nil && task.dropped:
		s = dropped
	case task != nil && task.Blocked && s != dropped:
		s = blocked
	}
	i.dropped, i.Blocked = s == dropped, s == blocked && !i.Passes
}

// rank reads a number, "P0" to "P9", or a word; lower is first.
func rank(priority string) int32 {
	if len(priority) == 1 && priority[0] >= '0' && priority[0] <= '9' {
		return int32(priority[0] - '0')
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
			return int32(n)
		}
	}
	return noPriority
}

// slug makes a name of a title, that can be said, shown and handed to a command.
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
