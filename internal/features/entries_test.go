package features

import (
	"reflect"
	"strings"
	"testing"
)

func TestEntries(t *testing.T) {
	for in, want := range map[string][]Entry{
		`{}`: nil,
		`{"verify": "go test ./...", "verification": ["npm test", "Manual: look at the page"]}`: {
			{Kind: EntryCommand, Text: "go test ./..."}, {Kind: EntryText, Text: "npm test"},
			{Kind: EntryText, Text: "Manual: look at the page"},
		},
		`{"verify": " ", "check": true, "verifyCommand": " npm test "}`: {{Kind: EntryCommand, Text: "npm test"}},
		`{"check": ["npm test", "true"], "verify_command": ["sh", "a é"], "verificationCommand": ["./é", " b"]}`: {
			{Kind: EntryCommand, Text: "npm test"}, {Kind: EntryCommand, Text: "true"},
			{Kind: EntryCommand, Argv: []string{"sh", "a é"}}, {Kind: EntryCommand, Argv: []string{"./é", " b"}},
		},
		`{"verification": "make", "completionCriteria": ["npm", "test"]}`: {
			{Kind: EntryText, Text: "make"}, {Kind: EntryCommand, Argv: []string{"npm", "test"}},
		},
		`{"verification": [["npm", "test"], ["make", "it works"]]}`: {
			{Kind: EntryCommand, Argv: []string{"npm", "test"}},
			{Kind: EntryText, Text: "make"}, {Kind: EntryText, Text: "it works"},
		},
		`{"verification": ["启动所有服务", "健康检查通过"], "completionCriteria": ["npm", "", "test"]}`: {
			{Kind: EntryText, Text: "启动所有服务"}, {Kind: EntryText, Text: "健康检查通过"},
			{Kind: EntryText, Text: "npm"}, {Kind: EntryText, Text: "test"},
		},
		`{"verification": [{"type": "source_contains", "file": "a.go", "pattern": "func A\\("}, ` +
			`{"type": "source_not_contains", "file": "a.go", "pattern": "later"}]}`: {
			{Kind: EntryContains, File: "a.go", Pattern: `func A\(`},
			{Kind: EntryLacks, File: "a.go", Pattern: "later"},
		},
		`{"test_file": ["tests/a_test.py", "/a"], "verification": [{"type": "test_file_exists", "file": "b.py"}]}`: {
			{Kind: EntryExists, File: "tests/a_test.py"}, {Kind: EntryText, Text: "test_file: /a"},
			{Kind: EntryExists, File: "b.py"},
		},
		`{"verification": [{"type": "all_tests_pass"},  {"type": "source_contains"}, 7, {"command": " "}]}`: {
			{Kind: EntryText, Text: `{"type": "all_tests_pass"}`},
			{Kind: EntryText, Text: `{"type": "source_contains"}`}, {Kind: EntryText, Text: `{"command": " "}`},
		},
		`{"verification": {"type": "test_passes", "command": "pytest -q"}, "test_file": null, "verify": null}`: {
			{Kind: EntryCommand, Text: "pytest -q"},
		},
	} {
		l, err := Parse([]byte("[" + in + "]"))
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Items[0].Entries(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", in, got, want)
		}
	}
}

func TestAcceptanceHasSentences(t *testing.T) {
	l, err := Parse([]byte(`[{"acceptance": ["a"], "verify": "make", "verification": ["It works", "a"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(l.Items[0].Acceptance(), ","); got != "a,It works" {
		t.Errorf("acceptance: %s", got)
	}
}
