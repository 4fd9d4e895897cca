package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

var entry = Entry{
	Command: "ralph-stop-hook", Args: []string{"hook", "--timeout", "660s"}, Timeout: 660,
}

// group is our entry as it looks in a file of two spaces, at the depth of a
// group in hooks.Stop.
const group = `      {
        "hooks": [
          {
            "type": "command",
            "command": "ralph-stop-hook",
            "args": [
              "hook",
              "--timeout",
              "660s"
            ],
            "timeout": 660
          }
        ]
      }`

// inLine is our entry in a file of one line.
const inLine = `{"type":"command","command":"ralph-stop-hook","args":["hook","--timeout","660s"],"timeout":660}`

func TestMerge(t *testing.T) {
	const sayDone = `      {"hooks": [{"type": "command", "command": "say done"}]}`
	fresh := "{\n  \"hooks\": {\n    \"Stop\": [\n" + group + "\n    ]\n  }\n}"
	for _, tc := range []struct{ name, in, want string }{
		{"an empty file", "", fresh + "\n"},
		{"only a BOM", "\xef\xbb\xbf", "\xef\xbb\xbf" + fresh + "\n"},
		{"empty object", "{}", fresh},
		{"other keys", "{\n  \"model\": \"opus\",\n  \"größe\": 1e2\n}\n",
			"{\n  \"model\": \"opus\",\n  \"größe\": 1e2,\n  \"hooks\": {\n    \"Stop\": [\n" + group +
				"\n    ]\n  }\n}\n"},
		{"other events", "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  },\n  \"x\": 1\n}\n",
			"{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"Stop\": [\n" + group + "\n    ]\n  },\n  \"x\": 1\n}\n"},
		{"other hooks", "{\n  \"hooks\": {\n    \"Stop\": [\n" + sayDone + "\n    ]\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"Stop\": [\n" + sayDone + ",\n" + group + "\n    ]\n  }\n}\n"},
		{"empty array", "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"Stop\": [\n" + group + "\n    ]\n  }\n}\n"},
		{"tabs and CRLF", "{\r\n\t\"x\": 1\r\n}\r\n",
			"{\r\n\t\"x\": 1,\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n" + tabs(group) + "\r\n\t\t]\r\n\t}\r\n}\r\n"},
		{"one line, our older entry",
			`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/x/ralph-stop-hook","args":[]}]}]}}` + "\n",
			`{"hooks":{"Stop":[{"hooks":[` + inLine + `]}]}}` + "\n"},
		{"a person's own additions", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/old/ralph-stop-hook",` +
			`"args":["hook","--timeout","60s","--on-complete","./tell.sh"],"timeout":60,"statusMessage":"ralph"}]}]}}`,
			`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ralph-stop-hook","args":["hook","--timeout","660s",` +
				`"--on-complete","./tell.sh"],"timeout":660,"statusMessage":"ralph"}]}]}}`},
		{"one that stood elsewhere", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ralph-stop-hook",` +
			`"args":["hook","--entry","user","--loop-dir","x","--entry=local"],"timeout":660}]}]}}`,
			`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ralph-stop-hook","args":["hook","--timeout","660s",` +
				`"--loop-dir","x"],"timeout":660}]}]}}`},
		{"flags that hook mode does not know", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ralph-stop-hook",` +
			`"args":["hook","--host","codex","--on-complete=./tell.sh","-x","--loop-dir"],"timeout":660}]}]}}`,
			`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ralph-stop-hook","args":["hook","--timeout","660s",` +
				`"--on-complete=./tell.sh"],"timeout":660}]}]}}`},
		{"hooks that are no list", `{"hooks":{"Stop":[{"hooks":{"command":"ralph-stop-hook"}}]}}`,
			`{"hooks":{"Stop":[{"hooks":{"command":"ralph-stop-hook"}},{"hooks":[` + inLine + `]}]}}`},
		{"two of ours", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ralph-stop-hook"},` +
			`{"type":"command","command":"x"},{"type":"command","command":"/a/ralph-stop-hook hook"}]}]}}`,
			`{"hooks":{"Stop":[{"hooks":[` + inLine + `,{"type":"command","command":"x"}]}]}}`},
		{"one line", `{"x":1}`, `{"x":1,"hooks":{"Stop":[{"hooks":[` + inLine + `]}]}}`},
		{"an older entry", "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n" +
			"            \"type\": \"command\",\n            \"command\": \"/old path/ralph-stop-hook\",\n" +
			"            \"args\": [\"hook\"],\n            \"timeout\": 60\n          }\n        ]\n      }\n    ]\n  }\n}",
			fresh},
		{"an older entry for the shell", "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n" +
			"          {\n            \"type\": \"command\",\n" +
			"            \"command\": \"'/old path/ralph-stop-hook' hook\"\n          }\n        ]\n      }\n    ]\n  }\n}",
			fresh},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Merge([]byte(tc.in), "Stop", entry)
			if err != nil || string(got) == tc.in {
				t.Fatalf("%s, %v", got, err)
			}
			if string(got) != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
			if !json.Valid([]byte(strings.TrimPrefix(string(got), "\xef\xbb\xbf"))) {
				t.Error("not valid JSON")
			}
			again, err := Merge(got, "Stop", entry)
			if err != nil || string(again) != string(got) {
				t.Errorf("a second run: %s, %v", again, err)
			}
		})
	}
}

// tabs turns two spaces into tabs and line feeds into CRLF.
func tabs(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "  ", "\t"), "\n", "\r\n")
}

func TestMergeRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"not json at all":              "line 1, column 2",
		"{\n  // mine\n  \"a\": 1\n}":  "comments are not allowed",
		"[]":                           "not a JSON object",
		"{\n\"hooks\": []}":            `line 2, column 10: "hooks" is not an object`,
		`{"hooks":{"Stop":{}}}`:        `"Stop" is not an array`,
		`{"hooks":{},"hooks":{}}`:      `the key "hooks" is there twice`,
		"{\"a\":1,}":                   "line 1, column 8",
		strings.Repeat("[", 2_000_000): "nested deeper",
	} {
		if _, err := Merge([]byte(in), "Stop", entry); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Merge(%.30q) = %v, want %q", in, err, want)
		}
	}
}

func TestOurs(t *testing.T) {
	for command, want := range map[string]bool{
		`ralph-stop-hook hook`:                     true,
		`"/a b/ralph-stop-hook" hook`:              true,
		`C:\bin\ralph-stop-hook.exe hook`:          true,
		`ralph-stop-hook`:                          true,
		`timeout 60 ralph-stop-hook hook`:          true,
		`A=1 /x/ralph-stop-hook hook --timeout 9s`: true,
		`/a b/ralph-stop-hook hook`:                true,
		`echo ralph-stop-hook`:                     false,
		`my-ralph-stop-hook`:                       false,
		``:                                         false,
		`"`:                                        false,
	} {
		text, _ := json.Marshal(command)
		in := fmt.Appendf(nil, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":%s}]}]}}`, text)
		got, err := Merge(in, "Stop", entry)
		if err != nil {
			t.Fatal(err)
		}
		if replaced := strings.Count(string(got), `"type"`) == 1; replaced != want {
			t.Errorf("%s: replaced %v, want %v", command, replaced, want)
		}
	}
}
