package glob

import (
	"regexp"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for text, paths := range map[string]string{
		"a":             "a !b !a/a !",
		"*":             "a .a !a/b",
		"*.go":          "a.go .go !a.goo !a/b.go",
		"a*c?":          "abcd acd !abc !a",
		"[a-c]x":        "ax cx !dx !x",
		"[!a]x":         "bx !ax",
		`\*`:            "* !a",
		"**":            "a a/b a/b/c",
		"a/**":          "a/b a/b/c !a !b/a",
		"**/a":          "a b/a b/c/a !a/b",
		"a/**/b":        "a/b a/x/b a/x/y/b !a/x !ab",
		"**/a/**/b/*.c": "a/b/x.c z/a/b/b/x.c a/q/b/x.c !a/b/q/x.c !a/x.c",
		"a/**/**/b":     "a/b a/x/b",
		"**/a/b":        "a/a/b a/b x/a/b !a/b/a",
		"a**b":          "ab axb !a/b",
		"é?":            "éa éé !é",
	} {
		g, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for path := range strings.SplitSeq(paths, " ") {
			path, not := strings.CutPrefix(path, "!")
			if g.Match(strings.Split(path, "/")) == not {
				t.Errorf("%s matches %s: %v", text, path, !not)
			}
		}
	}
	for _, text := range []string{"[", "a[b", `a\`, "x/[", "[]", "[[:alpha:]]"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s is a pattern", text)
		}
	}
}

func TestBelow(t *testing.T) {
	for text, folders := range map[string]string{
		"a":           "-a -b",
		"*":           "-a",
		"a/*.go":      "+a -a/b -b",
		"tests/**":    "+tests ~tests/a ~tests/a/b -b",
		"**/x.go":     "~a ~a/b ~x.go",
		"**/dist/x":   "~a +dist +a/dist ~dist/a",
		"a/**/b/c":    "+a ~a/x +a/b +a/x/b -b",
		"a/*/c":       "~a/b -a/b/c",
		"**":          "~node_modules",
		"./never/**":  "-never",
		"*/b/c/*.txt": "~x +x/b +x/b/c -x/b/d",
	} {
		g, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for folder := range strings.SplitSeq(folders, " ") {
			can, spelled := g.Below(strings.Split(folder[1:], "/"))
			if want := folder[0]; can != (want != '-') || spelled != (want == '+') {
				t.Errorf("%s below %s: %v, spelled %v", text, folder[1:], can, spelled)
			}
		}
	}
}

// FuzzMatch compares Match with a regular expression, and Below with Match.
func FuzzMatch(f *testing.F) {
	f.Add("a/**/b*/?", "a/x/bc/d")
	f.Add("**/*.go", "a.go")
	f.Add("**/a/**", "b/a/c/a/d")
	f.Fuzz(func(t *testing.T, text, path string) {
		if strings.ContainsAny(text+path, "[\\\n") || strings.Contains(text, "***") || !valid(text) || !valid(path) {
			return
		}
		g, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		names, re := strings.Split(path, "/"), ""
		for i, name := range strings.Split(text, "/") {
			last := i == strings.Count(text, "/")
			switch {
			case name == "**" && last:
				re += "[^/]+(/[^/]+)*"
			case name == "**":
				re += "([^/]+/)*"
			default:
				name = strings.ReplaceAll(regexp.QuoteMeta(name), `\*\*`, `\*`)
				re += strings.NewReplacer(`\*`, "[^/]*", `\?`, "[^/]").Replace(name)
				if !last {
					re += "/"
				}
			}
		}
		is := g.Match(names)
		if want := regexp.MustCompile("^" + re + "$").MatchString(path); is != want {
			t.Errorf("%q matches %q: %v, and %q says %v", text, path, is, re, want)
		}
		for n := 1; is && n < len(names); n++ {
			if can, _ := g.Below(names[:n]); !can {
				t.Errorf("%q matches %q, and nothing below %q", text, path, names[:n])
			}
		}
	})
}

// valid reports whether a path has no empty name and is valid UTF-8.
func valid(path string) bool {
	return !strings.Contains("/"+path+"/", "//") && strings.ToValidUTF8(path, "") == path
}
