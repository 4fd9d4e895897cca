package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// reader plays a person who does what a document says.
type reader struct {
	t                   *testing.T
	name                string // of the document
	home, project, seed string // seed: what a new project has in it
	env                 []string
}

// newReader gives a document its own home. It reads an example in a copy of the example,
// with an agent that knows the solutions.
func newReader(t *testing.T, name, program string) *reader {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	temp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, name: name, home: temp, project: filepath.Join(temp, "shop")}
	bin := filepath.Join(temp, "bin")
	vars := map[string]string{
		"HOME": temp, "TMPDIR": os.TempDir(),
		"PATH":           strings.Join([]string{bin, program, os.Getenv("PATH")}, string(os.PathListSeparator)),
		"XDG_STATE_HOME": filepath.Join(temp, ".local", "state"), "XDG_CONFIG_HOME": filepath.Join(temp, ".config"),
		"REPOSITORY": root,
	}
	for _, kv := range gittest.Vars {
		vars[kv[0]] = kv[1]
	}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		vars["GIT_"+who+"_NAME"], vars["GIT_"+who+"_EMAIL"] = "t", "t@example.com"
	}
	if dir, ok := strings.CutPrefix(filepath.ToSlash(filepath.Dir(name)), "examples/"); ok {
		r.seed = filepath.Join(root, "examples", dir)
		solutions := filepath.Join(root, "docs", "testdata", "solutions", dir)
		if _, err := os.Stat(solutions); err == nil {
			vars["SOLUTIONS"] = solutions
		}
	}
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	caches := strings.Fields(string(out))
	vars["GOCACHE"], vars["GOMODCACHE"], vars["GOFLAGS"] = caches[0], caches[1], ""
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		ours := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if !slices.ContainsFunc([]string{"CLAUDE", "RALPH_", "XDG_", "GIT_"}, ours) {
			if _, mine := vars[name]; !mine {
				r.env = append(r.env, kv)
			}
		}
	}
	for name, value := range vars {
		r.env = append(r.env, name+"="+value)
	}
	r.write("../bin/claude", fmt.Sprintf("#!/bin/sh\n%s=1 exec %q \"$@\"\n", playsAgent, os.Args[0]))
	r.write("../bin/make", standInMake)
	r.write("../bin/tmux", standInTmux)
	r.write("../bin/curl", standInCurl)
	r.write("../bin/docker", standInDocker)
	if err := r.restart(); err != nil {
		t.Fatal(err)
	}
	return r
}

// standInMake only checks that make knows the rule (make -n), because this test is run by
// one of the rules.
const standInMake = `#!/bin/sh
PATH=${PATH#*:}
exec make -n -C "$REPOSITORY" "$@" >/dev/null
`

// standInTmux runs the command of a new session at once, because there is no terminal.
const standInTmux = `#!/bin/sh
case $1 in
new-session) for last; do :; done; exec sh -c "$last" ;;
esac
`

// standInCurl checks the address and sends nothing.
const standInCurl = `#!/bin/sh
for last; do :; done
test "$last" = https://hooks.example.com/ralph
`

func (r *reader) write(path, text string) {
	path = filepath.Join(r.project, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		r.t.Fatal(err)
	}
}

// restart makes an empty project without known loops.
func (r *reader) restart() error {
	if err := errors.Join(os.RemoveAll(r.project), os.RemoveAll(filepath.Join(r.home, ".local"))); err != nil {
		return err
	}
	if r.seed != "" {
		return os.CopyFS(r.project, os.DirFS(r.seed))
	}
	return os.MkdirAll(r.project, 0o755)
}

func (r *reader) do(b block) error {
	switch b.kind {
	case "new project":
		return r.restart()
	case "needs":
		for _, program := range strings.Fields(b.text) {
			if _, err := exec.LookPath(program); err != nil {
				r.t.Skipf("%s:%d: without %s: %v", r.name, b.line, b.text, err)
			}
		}
		return nil
	case "sh", "console", "crontab", "json", "text", "conf", "ini", "yaml":
	default:
		return fmt.Errorf("a block of no known kind: %q", b.kind)
	}
	if b.notRun != "" {
		return nil
	}
	if b.kind == "json" {
		if err := readJSON(filepath.Base(b.path), []byte(b.text)); err != nil {
			return err
		}
	}
	switch b.kind {
	case "text":
		if command := textCommand.FindString(b.text); command != "" && r.name != "docs/commands.md" {
			return fmt.Errorf("text that shows a command is not run: %s", command)
		}
	case "ini":
		return r.readUnit(b.path, b.text)
	case "yaml":
		return r.readPods(b.text)
	}
	if b.path != "" {
		r.write(b.path, b.text)
		return nil
	}
	switch b.kind {
	case "conf":
		return errors.New("a configuration without a name")
	case "sh":
		_, err := r.sh(b.text)
		return err
	case "console":
		return r.console(b.text)
	case "crontab":
		for _, line := range strings.Split(strings.TrimSpace(b.text), "\n") {
			fields := strings.Fields(line)
			if len(fields) < 6 {
				return fmt.Errorf("no line of a crontab: %q", line)
			}
			if _, err := r.sh(strings.Join(fields[5:], " ")); err != nil {
				return err
			}
		}
	}
	return nil
}

// textCommand matches a command of ours in a block that is not run. TestCommands holds those of commands.md.
var textCommand = regexp.MustCompile(`(?m)^(\$ )?(\S+=\S+ )*ralph-(stop-hook|runner)\b.*$`)

// trusts matches the commands that ask a person.
var trusts = regexp.MustCompile(`(?m)(ralph-(?:stop-hook|runner) trust\b)([^|;&\n]*)`)

// sh runs commands in a shell.
func (r *reader) sh(text string) (string, error) {
	text = trusts.ReplaceAllString(text, "$1 --yes$2")
	ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-euc", text)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = r.project, r.env, &stderr, time.Second
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w\n%s\n%s%s", err, text, out, &stderr)
	}
	return string(out), err
}

// console runs the commands of a block and compares what they print with the block.
func (r *reader) console(text string) error {
	for _, part := range strings.Split("\n"+text, "\n$ ")[1:] {
		command, want, _ := strings.Cut(part, "\n")
		got, err := r.sh(command)
		if err != nil {
			return err
		}
		pattern := regexp.QuoteMeta(strings.TrimSpace(want))
		pattern = regexp.MustCompile(`(?m)^ *…$`).ReplaceAllString(pattern, `(?s:.*)`)
		if !regexp.MustCompile(`^` + strings.ReplaceAll(pattern, "…", `.*`) + `$`).MatchString(strings.TrimSpace(got)) {
			return fmt.Errorf("%s prints\n%s", command, got)
		}
	}
	return nil
}

// readJSON reads a JSON file with the part of the program that reads it, by the file's
// name.
func readJSON(name string, text []byte) error {
	if _, err := jsontext.Check(text); err != nil {
		return err
	}
	switch {
	case name == "ralph.json":
		_, err := config.Parse(text)
		return err
	case name == "config.json":
		_, err := config.ParseUserConfig(text)
		return err
	case name == "settings.json":
		line := gjson.GetBytes(text, "statusLine.command").Str
		if line != "ralph-stop-hook status --line" && bytes.Contains(text, []byte("ralph-stop-hook")) && !hooked(text) {
			return errors.New("the Stop hook in these settings is not read as ours")
		}
	case slices.Contains([]string{"feature_list.json", "prd.json", "tasks.json"}, name):
		_, errs, _ := features.Reading{}.Check(text)
		return errors.Join(errs...)
	case slices.Contains([]string{
		"answer.json", "notice.json", "iteration.json", "event.json", "delegated.json", "session.json",
	}, name):
	default:
		return fmt.Errorf("a block of JSON without a name that tells what reads it: %q", name)
	}
	return nil
}

// examine checks the result. JSON in a document must have the same keys as the real JSON.
// An example must be complete and proven.
func (r *reader) examine() {
	for shown, real := range map[string]string{
		"notice.json": "told.jsonl", "iteration.json": "asked.jsonl", "event.json": "events.jsonl",
		"delegated.json": "delegated.jsonl", "session.json": ".agent-state/iterations.jsonl",
	} {
		lines, err := os.ReadFile(filepath.Join(r.project, real))
		want, _, _ := bytes.Cut(lines, []byte("\n"))
		if got, err2 := os.ReadFile(filepath.Join(r.project, shown)); err == nil && err2 == nil &&
			keys(got) != keys(want) {
			r.t.Errorf("%s: %s has %s, and in fact there are %s", r.name, shown, keys(got), keys(want))
		}
	}
	if !slices.ContainsFunc(r.env, func(kv string) bool { return strings.HasPrefix(kv, "SOLUTIONS=") }) {
		return
	}
	out, err := r.sh("ralph-stop-hook status --json")
	if err != nil {
		r.t.Fatal(err)
	}
	got := gjson.GetMany(out, "status", "features.total", "features.proven")
	if got[0].Str != "COMPLETE" || got[1].Int() < 3 || got[1].Int() != got[2].Int() {
		r.t.Errorf("%s: the example is not complete and proven, with three features or more:\n%s", r.name, out)
	}
}

// keys returns the keys of an object and of the objects in it.
func keys(text []byte) string {
	var names []string
	gjson.ParseBytes(text).ForEach(func(key, value gjson.Result) bool {
		name := key.Str
		if value.IsObject() {
			name += " {" + keys([]byte(value.Raw)) + "}"
		}
		names = append(names, name)
		return true
	})
	return strings.Join(names, " ")
}

// hooked reports whether settings have our entry for a stop.
func hooked(text []byte) bool {
	file, err := client.Find(client.Usual).ReadSettings(text)
	return err == nil && len(file.Ours("Stop")) > 0
}
