package client

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/seeds"
)

var events = []string{"Stop", "StopFailure", "UserPromptSubmit", "SessionStart", "SessionEnd"}

// before has settings as people have them, without an entry of ours.
var before = map[string][]byte{
	"no file":                  nil,
	"empty":                    {},
	"a line end":               []byte("\n"),
	"blank lines and CRLF":     []byte(" \r\n\t\r\n"),
	"only a BOM":               []byte("\xef\xbb\xbf"),
	"BOM and a line end":       []byte("\xef\xbb\xbf\r\n"),
	"empty object":             []byte("{}"),
	"empty object, line end":   []byte("{}\n"),
	"empty object, BOM":        []byte("\xef\xbb\xbf{}\r\n"),
	"empty object, space":      []byte("{ }\n"),
	"empty object, two spaces": []byte(" {  } "),
	"empty object, open":       []byte("{\n}\n"),
	"empty object, very open":  []byte("\n{\n \n\t\n  }"),
	"empty object, open, CRLF": []byte("{\r\n}\r\n"),
	"empty object, CR":         []byte("{\r}"),
	"one line":                 []byte(`{"a":1}`),
	"one line, airy":           []byte("{ \"a\" : 1 }\n"),
	"one line, empty hooks":    []byte(`{"hooks":{}}`),
	"one line, airy hooks":     []byte(`{"hooks" : {  } , "x": [ ]}`),
	"one line, empty list":     []byte(`{"hooks":{"Stop":[]}}`),
	"one line, all lists empty": []byte(`{"hooks":{"Stop":[],"SessionEnd":[ ],"StopFailure":[],"UserPromptSubmit":[],` +
		`"SessionStart":[  ]}}`),
	"one line, others": []byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]},"y":2}` +
		"\n"),
	"two spaces":               []byte("{\n  \"model\": \"opus\"\n}\n"),
	"four spaces, no line end": []byte("{\n    \"model\": \"opus\"\n}"),
	"tabs":                     []byte("{\n\t\"model\": \"opus\",\n\t\"env\": {}\n}\n"),
	"tabs, CRLF, BOM":          []byte("\xef\xbb\xbf{\r\n\t\"größe\": 1.0\r\n}\r\n"),
	"mixed line ends":          []byte("{\n  \"a\": 1,\r\n  \"b\": 2\n}\n"),
	"a last comma's place":     []byte("{\n  \"a\": 1\n\n\n}\n\n"),
	"empty hooks":              []byte("{\n  \"hooks\": {},\n  \"z\": 1\n}\n"),
	"empty hooks, open":        []byte("{\n  \"hooks\": {\n  }\n}\n"),
	"empty hooks, CRLF":        []byte("{\r\n  \"hooks\": {\r\n\r\n  }\r\n}\r\n"),
	"empty list":               []byte("{\n  \"hooks\": {\n    \"Stop\": [],\n    \"PreToolUse\": []\n  }\n}\n"),
	"empty list, open":         []byte("{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t]\n\t}\n}\n"),
	"empty group":              []byte("{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": []}\n    ]\n  }\n}\n"),
	"other events": []byte("{\n  \"hooks\": {\n    \"PreToolUse\": [\n      " +
		"{\"matcher\": \"Bash\", \"hooks\": []}\n    ]\n  },\n  \"x\": 1\n}\n"),
	"other stop hooks": []byte("{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [" +
		"{\"type\": \"command\", \"command\": \"a\"}, {\"type\": \"command\", \"command\": \"b\"}]}\n    ]\n  }\n}\n"),
	"other stop hooks, one line": []byte("{\n  \"hooks\": {\"Stop\": [{\"hooks\": [" +
		"{\"type\": \"command\", \"command\": \"a\"}]}]}\n}\n"),
	"odd spacing":          []byte("{\"a\"\n:\n1 ,\n   \"hooks\"  :{\"Stop\" :[ { \"hooks\":[ ] }\n] } }"),
	"escapes":              []byte("{\n  \"\\u0068ooks\": {\"St\\u006fp\": []},\n  \"é\": \"\\ud83d\\ude00\"\n}\n"),
	"keys twice elsewhere": []byte("{\n  \"a\": 1,\n  \"a\": 2,\n  \"env\": {\"X\": \"1\", \"X\": \"2\"}\n}\n"),
	"numbers as they are":  []byte("{\n  \"a\": 1.0,\n  \"b\": 1e400,\n  \"c\": 12345678901234567890\n}\n"),
	"braces in strings":    []byte("{\n  \"a\": \"} ] , \\\" {\",\n  \"hooks\": {\"Notification\": [ ]}\n}\n"),
}

// mergeAll does what init does.
func mergeAll(data []byte) ([]byte, error) {
	for _, event := range events {
		var err error
		data, err = Merge(data, event, entry)
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

// removes returns an error unless Remove takes all that Merge puts into data, and nothing else.
func removes(data []byte) error {
	merged, err := mergeAll(data)
	if err != nil {
		return nil // Merge has its own tests
	}
	out, err := Remove(merged)
	if err != nil || has(out, "Stop") || bytes.Contains(out, []byte(`"660s"`)) != bytes.Contains(data, []byte(`"660s"`)) {
		return fmt.Errorf("became\n%s\nand then %q (%v)", merged, out, err)
	}
	if was, is := theirs(data), theirs(out); !reflect.DeepEqual(was, is) {
		return fmt.Errorf("became\n%s\nand then %q: of what is not ours, %v is %v", merged, out, was, is)
	}
	return nil
}

func TestRemove(t *testing.T) {
	for name, data := range before {
		if err := removes(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if merged, err := mergeAll(data); err != nil ||
			bytes.Count(merged, []byte(`"ralph-stop-hook"`)) != len(events) {
			t.Errorf("%s: not merged: %v\n%s", name, err, merged)
		}
	}
	// The usual layouts come back to the byte.
	for _, name := range []string{"two spaces", "four spaces, no line end", "tabs", "tabs, CRLF, BOM", "other stop hooks",
		"other events", "one line, others", "numbers as they are"} {
		merged, err := mergeAll(before[name])
		if err != nil {
			t.Fatal(err)
		}
		if out, err := Remove(merged); err != nil || !bytes.Equal(out, before[name]) {
			t.Errorf("%s: %q, want %q (%v)", name, out, before[name], err)
		}
	}
}

// TestRemoveEdited takes our entries out of settings that were edited since.
func TestRemoveEdited(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"none", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1\n}\n"},
		{"another one behind", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ralph-stop-hook"}]}, ` +
			`{"hooks":[{"type":"command","command":"x"}]}]}}`,
			`{"hooks":{"Stop":[ {"hooks":[{"type":"command","command":"x"}]}]}}`},
		{"in another's group", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}, ` +
			`{"type":"command","command":"/a b/ralph-stop-hook hook"}]}]}}`,
			`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`},
		{"with a matcher", `{"hooks":{"Stop":[` +
			`{"matcher":"","hooks":[{"type":"command","command":"ralph-stop-hook"}]}],"PreToolUse":[]}}`,
			`{"hooks":{"PreToolUse":[]}}`},
		{"an event of an older version",
			`{"a":1,"hooks":{"SubagentStop":[{"hooks":[{"type":"command","command":"ralph-stop-hook"}]}]}}`, `{"a":1}`},
		{"an event with a dot", `{"a":1,"hooks":{"a.b":[{"hooks":[{"type":"command","command":"ralph-stop-hook"}]}]}}`,
			`{"a":1}`},
		{"twice", `{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ralph-stop-hook"},` +
			`{"type":"command","command":"ralph-stop-hook"}]}]}}`, `{"a":1}`},
	} {
		if got, err := Remove([]byte(tc.in)); err != nil || string(got) != tc.want {
			t.Errorf("%s: %q (%v), want %q", tc.name, got, err, tc.want)
		}
	}
	const twice = `"hooks":[{"command":"a"}]%s"hooks":[{"command":"ralph-stop-hook"}]`
	for in, want := range map[string]string{
		"{":                       "line 1",
		"":                        "nothing here",
		`{"hooks":{},"hooks":{}}`: "there twice",
		`{"hooks":{"Stop":[{` + fmt.Sprintf(twice, `}],"Stop":[{`) + `}]}}`: `"Stop" is there twice`,
		`{"hooks":{"Stop":[{` + fmt.Sprintf(twice, `,`) + `}]}}`:            `"hooks" is there twice`,
	} {
		if _, err := Remove([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Remove(%q): %v, want %q", in, err, want)
		}
	}
}

// FuzzRemove takes any bytes as the host's settings.
func FuzzRemove(f *testing.F) {
	seeds.Add(f, "*settings*.json", "*.json")
	for _, data := range before {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("ralph-stop-hook")) {
			return // an entry of ours may be in it already
		}
		if err := removes(data); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
	})
}
