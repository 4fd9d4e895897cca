package config

import (
	"strings"
	"testing"
	"time"
)

// TestWords has a row for each way to write a word. A program or script is shown as "text!", a word of a command that
// only looks as "text?", and one that stands after another command as "text+".
func TestWords(t *testing.T) {
	for line, want := range map[string]string{
		"sh v.sh":                               "sh v.sh!",
		"./v.sh -x a":                           "./v.sh! -x a",
		"bash -euo pipefail v.sh":               "bash -euo pipefail v.sh!",
		"timeout 60 nice -n 5 sh v.sh":          "timeout? 60 nice? -n 5 sh v.sh!",
		"A=b sh v.sh":                           "A=b b sh v.sh!",
		`sh "my v.sh"`:                          "sh my v.sh my v.sh",
		`sh my\ v.sh`:                           "sh my v.sh",
		`sh -c 'cd sub && ./v.sh'`:              "sh -c cd sub ./v.sh! cd sub && ./v.sh",
		`python3 -c "import a.b"`:               "python3 -c import a.b import a.b",
		"python3 -m py_compile a.py":            "python3? -m? py_compile? a.py?",
		"python3 -m pytest tests":               "python3 -m pytest tests",
		"sh < v.sh":                             "sh v.sh!",
		"make -s && ./app":                      "make -s ./app!+",
		"cd sub; ./v.sh":                        "cd sub ./v.sh!",
		"sh a.sh >log 2>&1; cat log out":        "sh a.sh! 2 1 cat+ out+",
		"cat a.md | grep -q x":                  "cat? a.md? grep+? -q+? x+?",
		"cc -o app main.c && ./app":             "cc? -o? main.c?",
		"cp a b; sh b c":                        "cp a sh+ c+",
		"grep -q done notes.md":                 "grep? -q? done? notes.md?",
		"node --check x.js; sh -n y.sh":         "node? --check? x.js? sh+? -n+? y.sh+?",
		"go vet a.go && go run b.go":            "go? vet? a.go? go+ run+ b.go+",
		"sh \"$PWD/v.sh\" --rules=r.json":       "sh ./v.sh! --rules=r.json r.json",
		"# sh v.sh\nsh w.sh # sh x.sh":          "sh w.sh!",
		"sh -c \"$(cat 'v.sh')\" `cat w.sh`":    "sh -c $ cat+ v.sh+ $(cat 'v.sh') cat+ w.sh+",
		"for s in v.sh; do sh $s; done":         "for s in v.sh do+? sh+ $s+ done+",
		"unclosed 'v.sh":                        "unclosed v.sh",
		"VAR=1 env -i ./v.sh | tee out; sh out": "VAR=1 1 env? -i ./v.sh! tee+ sh+",
	} {
		var got []string
		for _, w := range (Command{Shell: line}).Words() {
			text := w.Text
			if w.Runs {
				text += "!"
			}
			if w.Late {
				text += "+"
			}
			if w.Looked {
				text += "?"
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s\n got  %s\n want %s", line, strings.Join(got, " "), want)
		}
	}
}

// TestWordsOfArguments has the words of a command that no shell splits.
func TestWordsOfArguments(t *testing.T) {
	words := Command{Argv: []string{"sh", "-c", "./a.sh; b", "x"}}.Words()
	if len(words) != 6 || words[2].Text != "./a.sh" || !words[2].Runs {
		t.Errorf("%+v", words)
	}
}

// FuzzWords looks for lines that take too long, or whose words are not in the line.
func FuzzWords(f *testing.F) {
	f.Add("sh -c 'a \"b c\" && ./d' > e; cp f g")
	f.Add(strings.Repeat(`"'`, 100))
	f.Add(strings.Repeat("$(", 1000))
	f.Fuzz(func(t *testing.T, line string) {
		begin := time.Now()
		words := Command{Shell: line}.Words()
		if took := time.Since(begin); took > time.Second {
			t.Errorf("%d bytes took %v", len(line), took)
		}
		if len(words) > 2*(maxQuotes+1)*(len(line)+1) {
			t.Errorf("%d words of %d bytes", len(words), len(line))
		}
		BuildsOf(line)
	})
}
