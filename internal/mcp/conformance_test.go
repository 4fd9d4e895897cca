package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// conformance has the rows that say how the tools answer where another program has tools of the same names. Each row
// begins with "# NUMBER"; its lines are commands:
//
//	call TOOL {…}      calls a tool; {key} in the arguments is a value of an earlier answer
//	want {…}           the last answer has these values, and perhaps others
//	error TEXT         the last answer is an error with this text; "|" separates several
//	has, lacks TEXT    the last answer's text
//	size BYTES         the last answer has at most so many
//	match KEY PATTERN  a value of the last answer
//	same KEY           the value is that of the last answer but one that had it
//	restart            the server is started again
//	claim [ID...]      the list claims these features
//	file PATH TEXT     a file in the project; @ is the loop's folder
//	stop MESSAGE       the session's turn ends
//	give               another session works on the loop
//	trust              a person trusts ralph.json
//	record STATUS ITERATION [REASON]
//	posix              the rest of the row needs a POSIX shell
const conformance = "testdata/conformance.txt"

// conformanceRows is how many rows there are.
const conformanceRows = 119

func TestConformance(t *testing.T) {
	data, err := os.ReadFile(conformance)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split("\n"+string(data), "\n# ")[1:]
	seen := 0
	for _, row := range rows {
		title, body, _ := strings.Cut(row, "\n")
		var number int
		if _, err := fmt.Sscan(title, &number); err != nil || number != seen+1 {
			t.Fatalf("row %q: want the number %d", title, seen+1)
		}
		seen = number
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			t.Parallel()
			r := &rowRun{world: newWorld(t), kept: map[string]string{}}
			checks := 0
			for _, line := range strings.Split(body, "\n") {
				if line == "posix" && runtime.GOOS == "windows" {
					t.Skip("needs a POSIX shell")
				}
				line = strings.TrimSpace(line)
				if line != "" && !strings.HasPrefix(line, ";") {
					if r.do(line) {
						checks++
					}
				}
			}
			if checks == 0 {
				t.Error("the row checks nothing")
			}
		})
	}
	if seen != conformanceRows {
		t.Errorf("%d rows, want %d", seen, conformanceRows)
	}
}

// TestConformanceControl sees that a row can fail.
func TestConformanceControl(t *testing.T) {
	if w := subset(map[string]any{"a": 1.0}, map[string]any{"a": 2.0}); w == "" {
		t.Error("a wrong value is taken")
	}
	if w := subset(map[string]any{"a": nil}, map[string]any{"a": 2.0}); w == "" {
		t.Error("a value that must be missing is taken")
	}
}

// rowRun runs one row.
type rowRun struct {
	*world
	kept    map[string]string // values of earlier answers
	before  map[string]string // those before the last answer
	text    string
	isError bool
}

// do does one command, and reports whether it was a check.
func (r *rowRun) do(line string) (isCheck bool) {
	r.t.Helper()
	command, rest, _ := strings.Cut(line, " ")
	switch command {
	case "call":
		name, arguments, _ := strings.Cut(rest, " ")
		for key, value := range r.kept {
			arguments = strings.ReplaceAll(arguments, "{"+key+"}", value)
		}
		arguments = regexp.MustCompile(`LONG(\d+)`).ReplaceAllStringFunc(arguments, func(s string) string {
			var n int
			fmt.Sscan(s[4:], &n)
			return strings.Repeat("x", n)
		})
		r.text, r.isError = r.world.call(name, arguments)
		r.keep()
	case "want":
		r.want(rest)
	case "error":
		r.fails(rest)
	case "has", "lacks":
		if strings.Contains(r.text, rest) != (command == "has") {
			r.t.Errorf("%s: the answer is %s", line, r.text)
		}
	case "size":
		if limit, err := strconv.Atoi(rest); err != nil || len(r.text) > limit {
			r.t.Errorf("%s: the answer has %d bytes", line, len(r.text))
		}
	case "match":
		key, pattern, _ := strings.Cut(rest, " ")
		if got := r.kept[key]; !regexp.MustCompile(pattern).MatchString(got) {
			r.t.Errorf("%s: it is %q in %s", line, got, r.text)
		}
	case "same":
		if r.kept[rest] != r.before[rest] || r.kept[rest] == "" {
			r.t.Errorf("%s: it was %q and is %q", line, r.before[rest], r.kept[rest])
		}
	case "record":
		s := r.state()
		if got := strings.TrimSpace(fmt.Sprintf("%s %d %s", s.Status, s.Iteration, s.ExitReason)); got != rest {
			r.t.Errorf("the record is %q, want %q", got, rest)
		}
	default:
		r.arrange(line, command, rest)
		return false
	}
	return command != "call"
}

// arrange changes the world.
func (r *rowRun) arrange(line, command, rest string) {
	r.t.Helper()
	switch command {
	case "restart":
		r.start()
	case "claim":
		r.claim(strings.Fields(rest)...)
	case "file":
		path, text, _ := strings.Cut(rest, " ")
		r.write(strings.Replace(path, "@", ".claude/data/ralph-loops/demo", 1), strings.ReplaceAll(text, `\n`, "\n"))
	case "stop":
		r.world.stop("real", os.Getpid(), rest)
	case "give":
		r.give()
	case "trust":
		r.trust()
	case "posix":
	default:
		r.t.Fatalf("no such command: %s", line)
	}
}

// keep keeps the texts of the last answer, also as KEY.2 and so on.
func (r *rowRun) keep() {
	r.before = map[string]string{}
	for key, value := range r.kept {
		r.before[key] = value
	}
	var answer map[string]any
	if json.Unmarshal([]byte(r.text), &answer) != nil {
		return
	}
	for key, value := range answer {
		if text, is := value.(string); is {
			r.kept[key] = text
		}
	}
}

func (r *rowRun) want(text string) {
	r.t.Helper()
	for key, value := range r.kept {
		text = strings.ReplaceAll(text, "{"+key+"}", value)
	}
	var want, got any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		r.t.Fatalf("want %s: %v", text, err)
	}
	if r.isError {
		r.t.Errorf("an error: %s", r.text)
		return
	}
	if err := json.Unmarshal([]byte(r.text), &got); err != nil {
		r.t.Fatal(err)
	}
	if why := subset(want, got); why != "" {
		r.t.Errorf("want %s: %s in %s", text, why, r.text)
	}
}

func (r *rowRun) fails(texts string) {
	r.t.Helper()
	if !r.isError {
		r.t.Errorf("no error, but %s", r.text)
	}
	for _, text := range strings.Split(texts, "|") {
		if !strings.Contains(r.text, strings.TrimSpace(text)) {
			r.t.Errorf("no %q in the error: %s", text, r.text)
		}
	}
}

// subset says where got differs from want, "" if it has all of it. null wants the value to be missing.
func subset(want, got any) string {
	w, isObject := want.(map[string]any)
	if !isObject {
		list, isList := want.([]any)
		have, _ := got.([]any)
		if !isList || len(list) != len(have) {
			if !reflect.DeepEqual(want, got) {
				return fmt.Sprintf("%v", got)
			}
			return ""
		}
		for i := range list {
			if why := subset(list[i], have[i]); why != "" {
				return fmt.Sprintf("%d: %s", i, why)
			}
		}
		return ""
	}
	g, _ := got.(map[string]any)
	for key, value := range w {
		have, has := g[key]
		if value == nil && has {
			return key + " is there"
		}
		if value != nil && !has {
			return key + " is missing"
		}
		if value != nil {
			if why := subset(value, have); why != "" {
				return key + ": " + why
			}
		}
	}
	return ""
}
