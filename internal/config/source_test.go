package config

import (
	"strings"
	"testing"
)

func TestSource(t *testing.T) {
	const asWord = "${id} as a separate word"
	for in, want := range map[string]string{
		`{"source": {"list": ["bd", "list"], "reopen": ["bd", "reopen", "${id}"],
			"show": {"command": ["bd", "show", "${id}"], "timeout": "3s"}}}`: "",

		`{"source": {}}`:                                                         `"source" must have "list"`,
		`{"source": {"list": "bd list"}}`:                                        `"list" must be an array of words`,
		`{"source": {"list": ["bd", "${id}"]}}`:                                  `"list" must not have ${id}`,
		`{"source": {"list": ["bd"], "reopen": ["bd", "reopen"]}}`:               `"reopen" must have ` + asWord,
		`{"source": {"list": ["bd"], "reopen": ["bd", "reopen", "--id=${id}"]}}`: `"reopen" must have ` + asWord,
		`{"source": {"list": ["bd"], "show": ["sh", "-c", "x ${id}", "${id}"]}}`: `"show" must have ` + asWord,
		`{"list": "a.json", "source": {"list": ["bd"]}}`:                         `"source" and "list" cannot be combined`,
		`{"source": {"list": ["bd"], "close": ["bd"]}}`:                          `unknown key "close"`,
	} {
		c, err := Choose(nil, []byte(in))
		untrusted := c.Source.List.Untrusted && c.Source.Reopen.Untrusted && c.Source.Show.Untrusted
		if want == "" && (err != nil || !untrusted || c.Untrusted != 3 || len(c.Commands()) != 3) {
			t.Errorf("%s: %v, %+v", in, err, c.Source)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func TestFor(t *testing.T) {
	c := Command{Argv: []string{"bd", "${id}", "${id} "}}
	for _, id := range []string{"a", "bd-a1.2", "US_001", "7", "x:y", "é", "#3", strings.Repeat("a", 128)} {
		if got, err := c.WithID(id); err != nil || got.Argv[1] != id || got.Argv[2] != "${id} " ||
			c.Argv[1] != "${id}" {
			t.Errorf("%q: %q, %v", id, got.Argv, err)
		}
	}
	bad := []string{"", "-rf", ".", "a b", "a;b", "a\nb", "../x", "a/b", "${id}",
		"#", "##", "#-a", "a#b", "a=b", "a\u3164", "\u00a0", strings.Repeat("a", 129)}
	for _, id := range bad {
		if got, err := c.WithID(id); err == nil {
			t.Errorf("%q was handed over: %q", id, got.Argv)
		}
	}
}

func TestCheckID(t *testing.T) {
	for id, good := range map[string]bool{
		"auth/login": true, "1.2": true, "#3": true, "加入": true, "US-001": true, "a/b/c.d": true,
		"a/": false, "/a": false, "a//b": false, "a/../b": false, "a/-b": false, "..": false,
		"-a": false, "#": false, "": false, "a b": false, "$a": false,
	} {
		if err := CheckID(id); (err == nil) != good {
			t.Errorf("%q: %v", id, err)
		}
	}
}
