package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// listCase is a list of testdata/lists, in the style of those that people have.
type listCase struct {
	name, path string
	text       string
	order      []string // the ids of the open items, as a person would work on them
	history    []listVersion
}

// listVersion is what the list becomes in the hands of an agent or a person, and which item is then the next one.
type listVersion struct{ text, wanted string }

// listCases reads testdata/lists. Of an archive's comment "order" has the ids, and "bytes" what txtar cannot hold. Its
// first file is the list. Each of the others edits the version before it, by lines "what→by what", in which \n ends a
// line and \\ is a backslash; its name says what is next and done.
func listCases(t *testing.T) (cases []listCase) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join("testdata", "lists", "*.txtar")) // the pattern is right
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c := listCase{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), path: archive.Files[0].Name}
		encode := func(text string) string { return text }
		for line := range strings.Lines(string(archive.Comment)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "order":
				c.order = strings.Fields(value)
			case "bytes":
				encode = func(text string) string { return asBytes(text, strings.Fields(value)) }
			}
		}
		text := string(archive.Files[0].Data)
		c.text = encode(text)
		for _, file := range archive.Files[1:] {
			for line := range strings.Lines(string(file.Data)) {
				line = strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(strings.TrimSuffix(line, "\n"))
				from, to, _ := strings.Cut(line, "→")
				if !strings.Contains(text, from) {
					t.Fatalf("%s: %q is not in the list", path, from)
				}
				text = strings.Replace(text, from, to, 1)
			}
			c.history = append(c.history, listVersion{encode(text), file.Name})
		}
		cases = append(cases, c)
	}
	return cases
}

// asBytes returns a text as some editors write it.
func asBytes(text string, how []string) string {
	for _, one := range how {
		switch one {
		case "crlf":
			text = strings.ReplaceAll(text, "\n", "\r\n")
		case "bom":
			text = "\ufeff" + text
		case "no-final-newline":
			text = strings.TrimSuffix(text, "\n")
		}
	}
	return text
}

// The flags of lists: the values of these keys, and boxes at the beginning of an item. They are found without the
// product's own reader.
var (
	jsonFlag = regexp.MustCompile(`("(?:passes|status)"\s*:\s*)(?:true|false|"[^"]*")`)
	boxFlag  = regexp.MustCompile(`(?m)^([ \t\x{a0}]*(?:[-*•]|\d\.)\s)\[[^\]\n]{0,2}\]`)
)

// differsInMore says in which line a text differs from another one in more than flags.
func differsInMore(before, after string) error {
	for _, flag := range []*regexp.Regexp{jsonFlag, boxFlag} {
		before = flag.ReplaceAllString(before, "${1}?")
		after = flag.ReplaceAllString(after, "${1}?")
	}
	old, now := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	for n := range max(len(old), len(now)) {
		if n >= len(old) || n >= len(now) {
			return fmt.Errorf("%d lines, not %d", len(now), len(old))
		}
		if old[n] != now[n] {
			return fmt.Errorf("line %d: %q, not %q", n+1, now[n], old[n])
		}
	}
	return nil
}

// TestListHistory reads each version of the lists: what is next, and what is done. Each claim is then taken back, and
// made again: only flags differ.
func TestListHistory(t *testing.T) {
	cases := listCases(t)
	if len(cases) < 20 {
		t.Errorf("only %d lists, one for each place in which init looks", len(cases))
	}
	for _, c := range cases {
		l, err := features.Parse([]byte(c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var order []string
		for _, item := range l.Order() {
			order = append(order, item.ID)
		}
		if !slices.Equal(order, c.order) {
			t.Errorf("%s: the order is %q, want %q", c.name, order, c.order)
		}
		for _, version := range c.history {
			if err := readVersion(version); err != nil {
				t.Errorf("%s: %s: %v\n%s", c.name, version.wanted, err, version.text)
			}
		}
	}
}

func readVersion(version listVersion) error {
	l, err := features.Parse([]byte(version.text))
	if err != nil {
		return err
	}
	next, _ := l.Next()
	if got := fmt.Sprintf("next %s, done %d of %d", next.ID, l.Passed(), len(l.Items)); got != version.wanted {
		return errors.New(got)
	}
	for _, item := range l.Items {
		if !item.Passes {
			continue
		}
		open, err := l.Mark([]byte(version.text), l, []string{item.ID}, false)
		if err != nil {
			return err
		}
		was, err := features.Parse(open)
		if err != nil {
			return err
		}
		claimed, err := was.Mark(open, was, []string{item.ID}, true)
		if err != nil {
			return err
		}
		now, err := features.Parse(claimed)
		if err != nil {
			return err
		}
		if again, _ := was.Find(item.ID); again.Passes || was.Passed() >= l.Passed() || now.Passed() <= was.Passed() {
			return fmt.Errorf("%s: %d of %d pass, and then %d", item.ID, was.Passed(), l.Passed(), now.Passed())
		}
		err = errors.Join(differsInMore(version.text, string(open)), differsInMore(version.text, string(claimed)))
		if err != nil {
			return err
		}
	}
	return nil
}

// TestListHistoryControls checks that a marking that changes anything else is found, in each list.
func TestListHistoryControls(t *testing.T) {
	spoilers := map[string]func(string) string{
		"a space":            func(s string) string { return s + " " },
		"the last line":      func(s string) string { return s[:len(s)-1] },
		"the byte order":     func(s string) string { return "\ufeff" + s },
		"the line ends":      func(s string) string { return strings.ReplaceAll(asBytes(s, []string{"crlf"}), "\r\r", "\n") },
		"a letter":           func(s string) string { return strings.Replace(s, "e", "a", 1) },
		"a line":             func(s string) string { return s[strings.IndexByte(s, '\n')+1:] },
		"the text of a flag": func(s string) string { return jsonFlag.ReplaceAllString(boxFlag.ReplaceAllString(s, ""), "") },
		"the layout of JSON": func(s string) string {
			var b bytes.Buffer
			if json.Indent(&b, []byte(s), "", "      ") != nil {
				return ""
			}
			return b.String()
		},
	}
	for _, c := range listCases(t) {
		if err := differsInMore(c.text, c.text); err != nil {
			t.Errorf("%s: itself: %v", c.name, err)
		}
		for what, spoil := range spoilers {
			if differsInMore(c.text, spoil(c.text)) == nil {
				t.Errorf("%s: %s was changed, and nobody noticed", c.name, what)
			}
		}
	}
}

// TestListsWorked begins a loop in a fresh project of each list, which init finds, and has an agent work until the loop
// is complete. The first claim is a lie, which the hook takes back. Everything is handed out as a person would do it,
// and the file differs in flags only.
func TestListsWorked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the check is a line for sh")
	}
	t.Parallel()
	for _, c := range listCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			newListAgent(t, c).play()
		})
	}
}

// listAgent works a list, as its prompts say.
type listAgent struct {
	*testing.T
	listCase
	dir string
	env []string
}

func newListAgent(t *testing.T, c listCase) *listAgent {
	work := t.TempDir()
	setup := &testscript.Env{WorkDir: work}
	if err := params("script").Setup(setup); err != nil {
		t.Fatal(err)
	}
	a := &listAgent{T: t, listCase: c, dir: filepath.Join(work, "fresh")}
	a.env = append(append(os.Environ(), setup.Vars...), "CLAUDECODE=")
	a.write(a.path, c.text)
	list, err := features.Parse([]byte(c.text))
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		if item.Passes {
			a.write("work/"+item.ID, "")
		}
	}
	return a
}

func (a *listAgent) write(name, text string) {
	path := filepath.Join(a.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		a.Fatal(err)
	}
}

func (a *listAgent) read(name string) string {
	text, err := os.ReadFile(filepath.Join(a.dir, filepath.FromSlash(name)))
	if err != nil {
		a.Fatal(err)
	}
	return string(text)
}

// call runs the program, and returns what it prints.
func (a *listAgent) call(input string, args ...string) string {
	cmd := exec.Command("ralph-stop-hook", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = a.dir, a.env, strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// event sends an event of the session.
func (a *listAgent) event(name, key, value string) gjson.Result {
	event, err := json.Marshal(map[string]any{
		"hook_event_name": name, "session_id": "s1", "cwd": a.dir, "stop_hook_active": true, key: value,
	})
	if err != nil {
		a.Fatal(err)
	}
	return gjson.Parse(a.call(string(event), "hook"))
}

// listAnswer is an answer of the hook: to the person, and to the agent.
type listAnswer struct{ said, prompt string }

func (a *listAgent) stop() listAnswer {
	answer := a.event("Stop", "last_assistant_message", "I have worked on it.")
	return listAnswer{
		answer.Get("systemMessage").Str,
		answer.Get("hookSpecificOutput.additionalContext").Str + answer.Get("reason").Str,
	}
}

func (a *listAgent) play() {
	a.call("", "init", "demo", "--settings", "none", "--check", `test -e "work/$RALPH_FEATURE"`)
	a.event("UserPromptSubmit", "prompt", a.read(".claude/data/ralph-loops/demo/RALPH_PROMPT.md"))
	prompt := a.stop().prompt
	var order []string
	for lies := true; ; lies = false {
		id := listWord(prompt, `(?m)^  id: (.*)$`)
		before := a.read(a.path)
		claimed, err := claimInList(before, prompt)
		if err != nil {
			a.Fatalf("%v in the prompt\n%s\nof the list\n%s", err, prompt, before)
		}
		a.write(a.path, claimed)
		if !lies {
			a.write("work/"+id, "")
			order = append(order, id)
		}
		answer := a.stop()
		after, want := a.read(a.path), claimed
		if lies {
			want = before
		}
		said := answer.said
		if err := differsInMore(want, after); err != nil || !lies && after != want {
			a.Fatalf("%s: the hook has changed the list: %v\n%s", said, err, after)
		}
		if strings.Contains(said, "Ralph loop") || len(order) > len(a.order) {
			if !strings.Contains(said, "Ralph loop COMPLETE: demo: ") || !strings.Contains(said, " features proven") {
				a.Errorf("it ends: %s", said)
			}
			break
		}
		prompt = answer.prompt
		if lies && listWord(prompt, `(?m)^  id: (.*)$`) != id {
			a.Fatalf("a lie about %s was believed: %s", id, prompt)
		}
	}
	if !slices.Equal(order, a.order) {
		a.Errorf("worked in the order %q, want %q", order, a.order)
	}
	if err := differsInMore(a.text, a.read(a.path)); err != nil {
		a.Error(err)
	}
}

func listWord(text, pattern string) string {
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return found[1]
}

// claimInList returns a list in which the feature of a prompt is claimed as the prompt says.
func claimInList(text, prompt string) (string, error) {
	title := listWord(prompt, `(?m)^  (?:title|description): (.*)$`)
	key, value := listWord(prompt, `set its "(\w+)" to `), listWord(prompt, `set its "\w+" to (\S+) in `)
	if key == "" { // a box
		item := regexp.MustCompile(`(?m)^(.*)\[[^\]\n]{0,2}\]([\s\x{a0}]` + regexp.QuoteMeta(title) + `\s*)$`)
		if !item.MatchString(text) || !strings.Contains(prompt, "tick its checkbox, [x]") {
			return "", fmt.Errorf("no box of %q", title)
		}
		return item.ReplaceAllString(text, "${1}[x]${2}"), nil
	}
	body := strings.TrimPrefix(text, "\ufeff")
	begin := 0
	if strings.HasPrefix(body, `{"id"`) { // one object a line
		begin = strings.LastIndexByte(body[:strings.Index(body, title)], '\n') + 1
	}
	path, found := pathOf(gjson.Parse(body[begin:]), title)
	if !found {
		return "", fmt.Errorf("no item %q", title)
	}
	at := gjson.Get(body[begin:], path+key)
	if at.Index == 0 {
		return "", fmt.Errorf("%q has no %q", title, key)
	}
	at.Index += begin
	return text[:len(text)-len(body)] + body[:at.Index] + value + body[at.Index+len(at.Raw):], nil
}

// pathOf returns the path of the object that says the title, with a dot behind each of its keys.
func pathOf(value gjson.Result, title string) (path string, found bool) {
	if value.IsObject() && (value.Get("title").Str == title || value.Get("description").Str == title) {
		return "", true
	}
	if !value.IsObject() && !value.IsArray() {
		return "", false
	}
	n := 0
	for key, inner := range value.ForEach {
		name := key.Str
		if value.IsArray() {
			name = fmt.Sprint(n)
		}
		n++
		if below, found := pathOf(inner, title); found {
			return name + "." + below, true
		}
	}
	return "", false
}
