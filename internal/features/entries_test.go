package features

import (
	"reflect"
	"testing"
)

func TestEntries(t *testing.T) {
	for in, want := range map[string][]Entry{
		`{}`: nil,
		`{"verify": "go test ./...", "verification": ["npm test", "Manual: look at the page"]}`: {
			{Kind: EntryCommand, Text: "go test ./..."}, {Kind: EntryCommand, Text: "npm test", Guessed: true},
			{Kind: EntryManual, Text: "Manual: look at the page"},
		},
		`{"verify": "npm test", "completionCriteria": [" npm test "]}`: {{Kind: EntryCommand, Text: "npm test"}},
		`{"verification": [{"type": "source_contains", "file": "a.go", "pattern": "func A\\("}, ` +
			`{"type": "source_not_contains", "file": "a.go", "pattern": "later"}]}`: {
			{Kind: EntryContains, File: "a.go", Pattern: `func A\(`},
			{Kind: EntryLacks, File: "a.go", Pattern: "later"},
		},
		`{"test_file": "tests/a_test.py", "verification": [{"type": "test_file_exists", "file": "tests/a_test.py"}]}`: {
			{Kind: EntryExists, File: "tests/a_test.py"},
		},
		`{"verification": [{"type": "all_tests_pass"},  {"type": "source_contains"}, 7]}`: {
			{Kind: EntryManual, Text: `{"type": "all_tests_pass"}`},
			{Kind: EntryManual, Text: `{"type": "source_contains"}`}, {Kind: EntryManual, Text: "7"},
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

func TestProse(t *testing.T) {
	for text, want := range map[string]bool{
		"npm test":                          false,
		"go test ./...":                     false,
		"./verify.sh --all":                 false,
		"CI=1 npm run build && npm test":    false,
		`grep -q "the word is there" a.txt`: false,
		"test -f dist/index.js":             false,
		"~/bin/check":                       false,
		"$SHELL -c true":                    false,
		"Manual: look at the page":          true,
		"Run the tests":                     true,
		"make sure the page loads":          true,
		"test that login works":             true,
		"user can log in":                   true,
		"find all users.":                   true,
		"":                                  true,
		"écran visible":                     true,
		"typecheck passes":                  true,
		"true\nrm -rf /":                    true,
		"(cd a && make)":                    true,
	} {
		if got := prose(text); got != want {
			t.Errorf("prose(%q) = %v", text, got)
		}
	}
}
