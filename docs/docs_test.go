package docs

import (
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// notRun has the number of commands and files in each document that are not run or read.
var notRun = map[string]int{
	"docs/fleet.md":             2,
	"docs/mcp.md":               1,
	"docs/watch.md":             1,
	"examples/beads/README.md":  1,
	"examples/github/README.md": 1,
}

// playsAgent is an environment variable. If it is set, the test binary is the client.
const playsAgent = "DOCS_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(playsAgent) != "" {
		os.Exit(playAgent(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// TestDocuments runs each document.
func TestDocuments(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the documents' commands are for a POSIX shell")
	}
	root, program := "..", build(t)
	var names []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/assurance/*.md", "examples/*/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		for _, path := range found {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, filepath.ToSlash(rel))
		}
	}
	solutions, err := os.ReadDir("testdata/solutions")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range solutions {
		if !slices.Contains(names, "examples/"+of.Name()+"/README.md") {
			t.Errorf("there is a solution of an example %s, which is not there", of.Name())
		}
	}
	for name := range notRun {
		if !slices.Contains(names, name) {
			t.Errorf("notRun names %s, which is not there", name)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && strings.HasPrefix(name, "examples/") {
				t.Skip("an example installs and builds what it needs")
			}
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			list, err := blocks(string(text))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, m := range link.FindAllStringSubmatch(string(text), -1) {
				if err := follow(filepath.Join(root, filepath.FromSlash(name)), m[1], m[2]); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			r := newReader(t, name, program)
			for _, b := range list {
				if b.notRun != "" {
					t.Logf("%s:%d: not run: %s", name, b.line, b.notRun)
				}
				if err := r.do(b); err != nil {
					t.Fatalf("%s:%d: %v", name, b.line, err)
				}
			}
			if got := len(slices.DeleteFunc(list, func(b block) bool { return b.notRun == "" })); got != notRun[name] {
				t.Errorf("%s: %d blocks are not run, want %d; notRun says how many there may be", name, got,
					notRun[name])
			}
			r.examine()
		})
	}
}

// build builds the programs and returns their folder.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=false", "-o", dir, "../cmd/ralph-stop-hook", "../cmd/ralph-runner")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// TestRules checks that the Makefile has the rules that CONTRIBUTING.md names.
func TestRules(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	makefile, err2 := os.ReadFile("../Makefile")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`make ([a-z-]+)`").FindAllStringSubmatch(string(text), -1)
	for _, m := range named {
		if !regexp.MustCompile(`(?m)^` + m[1] + `:`).Match(makefile) {
			t.Errorf("the Makefile has no rule %s", m[1])
		}
	}
	if len(named) < 5 {
		t.Errorf("CONTRIBUTING.md names %d rules", len(named))
	}
}

// TestControl checks that an error in a document is found.
func TestControl(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the documents' commands are for a POSIX shell")
	}
	r := newReader(t, "control.md", build(t))
	for text, want := range map[string]string{
		"```text\n$ ralph-runner serve\n```": "text that shows a command",

		"```sh\nralph-stop-hook init\nralph-stop-hook statsu\n```":                 "statsu",
		"```sh\nfalse | true\nfalse\n```":                                          "exit status 1",
		"```console\n$ echo a\nb\n```":                                             "echo a prints",
		"```crontab\n*/10 * * * * ralph-stop-hook status --sendue\n```":            "sendue",
		"```crontab\n* * * * *\n```":                                               "no line of a crontab",
		"```json ralph.json\n{\"limits\": {\"max_iteration\": 3}}\n```":            "did you mean",
		"```json config.json\n{\"checks\": []}\n```":                               "unknown key",
		"```json settings.json\n{\"hooks\": {\"stop\": \"ralph-stop-hook\"}}\n```": "not read as ours",
		"```json prd.json\n{\"userStories\": [{\"id\": 1}, {\"id\": 1}]}\n```":     "1",
		"```json\n{}\n```":                          "without a name",
		"```json notice.json\n{]\n```":              "line 1",
		"```toml\na = 1\n```":                       "no known kind",
		"```yaml\nkind: Secret\nmetadatas: {}\n```": "metadatas",
		"```yaml\nspec: {template: {spec: {containers: [{command: [ralph-runner, worker, --lane]}]}}}\n```": "--lane",
		"```ini a.service\n[Service]\nExecStart=/bin/ralph-runner worker --lane 2\n```":                     "--lane",
		"```ini a.service\n[Service]\nExecStar=/bin/true\n```":                                              "ExecStar",
		"```conf\na: b\n```":                 "without a name",
		"```sh\ntrue":                        "has no end",
		"text\n\n    ralph-stop-hook init":   "an indented block",
		"<!-- not run: why -->\ntext":        "of no block",
		"<!-- run: ralph-stop-hook init -->": "a step that a reader does not see",
	} {
		list, err := blocks(text)
		for _, b := range list {
			if err == nil {
				err = r.do(b)
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, to := range []string{"nowhere.md", "faq.md#why-not"} {
		path, anchor, _ := strings.Cut(to, "#")
		if follow("docs_test.go", path, anchor) == nil {
			t.Errorf("a link to %s leads somewhere", to)
		}
	}
}

// TestPictures checks that the pictures can be drawn, and that those made by hand are small.
func TestPictures(t *testing.T) {
	for name, most := range map[string]int{
		"client.svg": 16 << 10, "demo.svg": 16 << 10, "runner.svg": 16 << 10, "status.svg": 16 << 10,
		"states.svg": 6 << 10, "stop.svg": 6 << 10,
	} {
		picture, err := os.ReadFile(name)
		if err == nil {
			err = xml.Unmarshal(picture, new(struct{}))
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(picture) > most {
			t.Errorf("%s has %d bytes, at most %d are allowed", name, len(picture), most)
		}
	}
}
