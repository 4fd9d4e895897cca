package config

import (
	"slices"
	"testing"
)

// TestProjectProgram has lines for the shell, the program of the project that each begins with, and the line with
// another program instead of that.
func TestProjectProgram(t *testing.T) {
	const file = "/cache/it's here/notify.sh"
	const quoted = `'/cache/it'\''s here/notify.sh'`
	for line, want := range map[string]struct{ program, replaced string }{
		"./notify.sh":                 {"notify.sh", quoted},
		"./notify.sh 'a  b' \"$X\"":   {"notify.sh", quoted + " 'a  b' \"$X\""},
		" \t\n./notify.sh x":          {"notify.sh", quoted + " x"},
		"./notify.sh\tx":              {"notify.sh", quoted + "\tx"},
		"./notify.sh\necho ok":        {"notify.sh", quoted + "\necho ok"},
		"scripts/notify.sh":           {"scripts/notify.sh", quoted},
		"./scripts/../notify.sh x":    {"notify.sh", quoted + " x"},
		"./a/./b//c.sh":               {"a/b/c.sh", quoted},
		"./notify.sh;true":            {"notify.sh", quoted + ";true"},
		"./notify.sh>log 2>&1":        {"notify.sh", quoted + ">log 2>&1"},
		"./notify.sh<in|./notify.sh":  {"notify.sh", quoted + "<in|./notify.sh"},
		"./notify.sh&&true ./x.sh":    {"notify.sh", quoted + "&&true ./x.sh"},
		"./sms-4.1_äö.sh":             {"sms-4.1_äö.sh", quoted},
		"./..notify.sh":               {"..notify.sh", quoted},
		"notify.sh ./x.sh":            {}, // looked up in PATH
		"sh ./notify.sh":              {},
		"A=b ./notify.sh":             {},
		"A=./b notify":                {},
		"cd scripts && ./notify.sh":   {},
		"../notify.sh":                {},
		"..":                          {},
		"./..":                        {},
		"./x/../../notify.sh":         {},
		"/usr/bin/notify x":           {},
		"~/notify.sh":                 {},
		"~you/notify.sh":              {},
		"$HOME/notify.sh":             {},
		"${DIR}/notify.sh":            {},
		"`pwd`/notify.sh":             {},
		"$(pwd)/notify.sh":            {},
		"(./notify.sh)":               {},
		"./f() { true; }":             {},
		`"./my notify.sh"`:            {},
		`'./notify.sh'`:               {},
		`./my\ notify.sh`:             {},
		"./*.sh":                      {},
		"./notify.sh#1":               {},
		`.\notify.bat`:                {},
		`scripts\notify.bat /x`:       {},
		`..\a/notify.bat`:             {},
		`C:\scripts\notify.bat /x`:    {},
		"C:/scripts/notify.bat":       {},
		"c:scripts/notify.bat":        {},
		`\\server\scripts/notify.bat`: {},
		";./notify.sh":                {},
		"":                            {},
	} {
		c := Command{Shell: line}
		if got := c.ProjectProgram(); got != want.program {
			t.Errorf("%q: the program is %q, want %q", line, got, want.program)
		}
		if want.program == "" {
			continue
		}
		if got := c.WithProgram(file); got.Shell != want.replaced || c.Shell != line {
			t.Errorf("%q: with another program %q, want %q", line, got.Shell, want.replaced)
		}
	}
}

// TestProjectProgramOfWords has commands that no shell splits: a space is a part of a name.
func TestProjectProgramOfWords(t *testing.T) {
	for _, tc := range []struct {
		argv []string
		want string
	}{
		{[]string{"./notify.sh", "a b"}, "notify.sh"},
		{[]string{"./my scripts/notify.sh"}, "my scripts/notify.sh"},
		{[]string{"scripts/x/../notify.sh", "./y.sh"}, "scripts/notify.sh"},
		{[]string{"notify", "./y.sh"}, ""},
		{[]string{"../notify.sh"}, ""},
		{[]string{"/bin/notify"}, ""},
		{[]string{`.\notify.bat`}, ""},
		{[]string{`C:\x/notify.exe`}, ""},
		{[]string{"C:/x/notify.exe"}, ""},
		{nil, ""},
	} {
		c := Command{Argv: slices.Clone(tc.argv)}
		if got := c.ProjectProgram(); got != tc.want {
			t.Errorf("%q: the program is %q, want %q", tc.argv, got, tc.want)
		}
		if tc.want == "" {
			continue
		}
		got := c.WithProgram("/cache/a b").Argv
		want := append([]string{"/cache/a b"}, tc.argv[1:]...)
		if !slices.Equal(got, want) || !slices.Equal(c.Argv, tc.argv) {
			t.Errorf("%q: with another program %q, and the command itself is %q now", tc.argv, got, c.Argv)
		}
	}
}
