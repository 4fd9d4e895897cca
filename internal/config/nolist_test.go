package config

import (
	"strings"
	"testing"
)

func TestNoList(t *testing.T) {
	for text, want := range map[string][2]bool{ // whether there is no list, and whether a list is held
		`{}`:                 {false, false},
		`{"list": "none"}`:   {true, false},
		`{"list": "./none"}`: {false, false},
		`{"list": "a.json", "checks": [{"command": "x"}]}`:                 {false, true},
		`{"list": "none", "checks": [{"command": "x"}]}`:                   {true, false},
		`{"list": "a.json", "evaluate": [{"command": "x"}]}`:               {false, true},
		`{"list": "none", "evaluate": [{"command": "x"}]}`:                 {true, false},
		`{"list": "none", "limits": {"attempts": 0}}`:                      {true, false},
		`{"list": "none", "evaluate": ["default"], "protect": ["*.test"]}`: {true, false},
	} {
		c, err := Parse([]byte(text))
		if got := [2]bool{c.NoList(), c.HoldsList()}; err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
}

// TestNoListRefuses tests what is about features, in a loop that has none. Each row is what follows
// "list": "none".
func TestNoListRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`"source": {"list": ["x"]}`: `"source" and "list" cannot be combined`,
		`"skip_headings": []`: `line 1, column 35: "skip_headings" is about features, ` +
			`but "list": "none" means that there are none`,
		"\"limits\": {\n \"attempts\": 3}":      `line 2, column 14: "limits.attempts" is about features`,
		`"limits": {"features_per_session": 1}`: `"limits.features_per_session" is about features`,
		"\"checks\": [{\"command\": \"x\"},\n{\"command\": \"y\", \"features\": [\"a\"]}]": `line 2, column 30: ` +
			`"features" is about features, but "list": "none" means that there are none`,
		`"checks": {"when": "claim"}`: `"checks" must be a list`,
	} {
		_, err := Parse([]byte(`{"list": "none", ` + text + "}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
