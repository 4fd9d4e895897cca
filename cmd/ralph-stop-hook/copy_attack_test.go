//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
)

// copyWorld is a project whose check passes once src/done says so. Only src/** is the agent's work.
const copyWorld = `
-- outside/done --
done
-- outside/helper.sh --
check() { :; }
-- outside/victim --
theirs
-- home/.bashrc --
theirs
-- home/.gitconfig --
-- project/feature_list.json --
[{"id": "a", "title": "a", "passes": false}]
-- project/verify.sh --
. ./lib/helper.sh
check src/done
-- project/lib/helper.sh --
check() { grep -qx done "$1"; }
-- project/Makefile --
test:
	@sh verify.sh
-- project/package.json --
{"scripts": {"test": "node verify.js"}}
-- project/verify.js --
process.exit(require("fs").readFileSync("src/done", "utf8") === "done\n" ? 0 : 1)
-- project/tests/test_a.py --
import unittest
class Test(unittest.TestCase):
    def test(self):
        with open("src/done") as f:
            self.assertEqual(f.read(), "done\n")
-- project/go.mod --
module x

go 1.21
-- project/src/keep --
keep
-- project/src/a.go --
package src
-- project/.gitignore --
ignored/
node_modules/
`

// copyAttack is one thing that an agent does instead of its work. Lines are for sh, in the project; $OUT is a folder
// beside it that is not the agent's.
type copyAttack struct {
	name    string
	person  string   // lines of a person before the loop; by default the project becomes a repository
	checks  []string // by default sh verify.sh
	work    []string // by default src/**
	protect []string // what a person protects beside
	lines   string   // of the agent, before its first stop
	env     []string // of the agent's settings
	wrap    string   // lines that run the first stop as "$@"
	stops   int      // how many stops come at once; by default one
	tells   string   // what the answer to the agent says
	again   string   // of the agent, before one more stop
	honest  string   // the work; by default echo done > src/done
	why     string   // the honest work does not end the loop, and this is what a person reads
	through bool     // if the checks run in the project, this ends the loop
	kind    string   // this gets through, and it is documented why
	works   bool     // this is the work: it ends the loop
	needs   string   // a program
	root    bool     // only root can do this
	moving  bool     // the project changes meanwhile
}

// The kinds of attacks that get through, as docs/assurance/PROOF.md names them.
const (
	ignoredByGit    = "the agent can change files that git ignores"
	loadedByTrusted = "a file of the work that a trusted test loads"
	readByTool      = "a tool reads a file of the work"
	namedByNobody   = "a file that nobody listed"
)

// TestCopyAttacks has an agent attack checks that run in the copy, and then do the work.
func TestCopyAttacks(t *testing.T) {
	t.Parallel()
	if len(copyAttacks) < 80 {
		t.Errorf("%d attacks, want 80 or more", len(copyAttacks))
	}
	kinds, err := os.ReadFile(filepath.Join("..", "..", "docs", "assurance", "PROOF.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for i, a := range copyAttacks {
		if a.kind != "" && !strings.Contains(string(kinds), "\n| "+a.kind+" | ") {
			t.Errorf("%s gets through, and docs/assurance/PROOF.md has no kind %q", a.name, a.kind)
		}
		if names[a.name] {
			t.Errorf("two attacks are called %s", a.name)
		}
		names[a.name] = true
		if testing.Short() && i%5 > 0 {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			newAttackedProject(t, a, false).play()
		})
	}
}

// TestCopyAttacksControl checks that the same attacks are seen to get through where the checks run in the project.
func TestCopyAttacksControl(t *testing.T) {
	t.Parallel()
	through := 0
	for i, a := range copyAttacks {
		if !a.through {
			continue
		}
		through++
		if testing.Short() && i%5 > 0 {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			r := newAttackedProject(t, a, true)
			r.begin()
			r.sh(a.lines)
			if message := r.stop(a.wrap, 1); !complete(message) {
				t.Errorf("in the project the loop goes on: %s", message)
			}
		})
	}
	if through < 10 {
		t.Errorf("control: only %d attacks get through in the project, want 10 or more", through)
	}
}

// attackedProject is a project under attack.
type attackedProject struct {
	*testing.T
	copyAttack
	inProject    bool // the checks run there
	dir, project string
	env          []string
	settings     []string // variables of the agent's settings
}

func newAttackedProject(t *testing.T, a copyAttack, inProject bool) *attackedProject {
	t.Helper()
	if a.needs != "" {
		if _, err := exec.LookPath(a.needs); err != nil {
			t.Skip(err)
		}
	}
	if a.root && os.Geteuid() != 0 {
		t.Skip("only root can do this")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &attackedProject{T: t, copyAttack: a, inProject: inProject, dir: dir}
	r.project = filepath.Join(dir, "project")
	for _, f := range txtar.Parse([]byte(copyWorld)).Files {
		r.write(f.Name, string(f.Data))
	}
	home := filepath.Join(dir, "home")
	r.env = append(gittest.Environ(), "HOME="+home, "USERPROFILE="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"),
		"XDG_CACHE_HOME=", "PAYLOADS="+payloads, "TEST_ENTRY=assumed", "CLAUDE_SAYS=2.1.329 (Claude Code)",
		"OUT="+filepath.Join(dir, "outside"), "PWNED="+r.pwned(),
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t",
		"GIT_COMMITTER_EMAIL=t@example.com", "GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"), "XDG_CONFIG_HOME=",
		"GOPROXY=off", "GOTOOLCHAIN=local")
	if a.needs == "go" { // without what it has built already, Go takes a minute
		cache, err := exec.Command("go", "env", "GOCACHE").Output()
		if err != nil {
			t.Fatal(err)
		}
		r.env = append(r.env, "GOCACHE="+strings.TrimSpace(string(cache)))
	}
	t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+rwx", dir).Run() })
	return r
}

// pwned is the file that a command of the agent's makes where nobody should run it.
func (r *attackedProject) pwned() string { return filepath.Join(r.dir, "pwned") }

func (r *attackedProject) write(name, text string) {
	r.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

// run runs a program in the project. What it leaves behind is ended by the function that run returns.
func (r *attackedProject) run(env []string, args ...string) (output string, leave func(), err error) {
	out, err := os.CreateTemp(r.dir, "out")
	if err != nil {
		r.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.project, append(r.env, env...), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err = cmd.Wait()
	if !late.Stop() {
		err = fmt.Errorf("%q took more than a minute", args)
	}
	data, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		r.Fatal(readErr)
	}
	return string(data), func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }, err
}

// sh runs lines of the agent or of a person.
func (r *attackedProject) sh(lines string) (leave func()) {
	r.Helper()
	out, leave, err := r.run(nil, "sh", "-c", lines)
	if err != nil {
		r.Fatalf("%s: %v: %s", lines, err, out)
	}
	return leave
}

// begin has a person begin the loop, and the agent claim its feature.
func (r *attackedProject) begin() {
	r.Helper()
	person := r.person
	if person == "" {
		person = "git init -q && git add -A && git commit -qm one"
	}
	r.sh(person)
	args := []string{"ralph-stop-hook", "init", "checkout", "--settings", "none"}
	if r.work == nil {
		r.work = []string{"src/**"}
	}
	for _, pattern := range r.work {
		args = append(args, "--work", pattern)
	}
	if r.checks == nil {
		r.checks = []string{"sh verify.sh"}
	}
	for _, check := range r.checks {
		args = append(args, "--check", check)
	}
	if out, _, err := r.run(nil, args...); err != nil {
		r.Fatalf("%q: %v: %s", args, err, out)
	}
	r.edit()
	if out, _, err := r.run(nil, "start"); err != nil {
		r.Fatalf("start: %v: %s", err, out)
	}
	for _, variable := range r.copyAttack.env {
		r.settings = append(r.settings, strings.ReplaceAll(variable, "$PROJECT", r.project))
	}
	list := filepath.Join("project", "feature_list.json")
	r.write(list, `[{"id": "a", "title": "a", "passes": true}]`)
	event := `{"hook_event_name": "Stop", "session_id": "s1", "stop_hook_active": true, "cwd": %q}`
	r.write("stop.json", fmt.Sprintf(event, r.project))
}

// edit has a person say more in ralph.json than init does.
func (r *attackedProject) edit() {
	r.Helper()
	manyStops := r.stops > 2
	if !r.inProject && r.protect == nil && !manyStops {
		return
	}
	path := filepath.Join(r.project, ".claude", "data", "ralph-loops", "checkout", "ralph.json")
	text, err := os.ReadFile(path)
	if err != nil {
		r.Fatal(err)
	}
	set := func(key string, value any) {
		text, err = sjson.SetBytes(text, key, value)
		if err != nil {
			r.Fatal(err)
		}
	}
	for _, pattern := range r.protect {
		set("protect.-1", pattern)
	}
	if r.inProject {
		for i := range r.checks {
			set(fmt.Sprintf("checks.%d.in", i), "project")
		}
	}
	if manyStops { // they change nothing, one after the other
		set("limits.stagnation", 0)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		r.Fatal(err)
	}
	if out, _, err := r.run(nil, "ralph-stop-hook", "trust", "--yes"); err != nil {
		r.Fatalf("trust: %v: %s", err, out)
	}
}

// play has the agent attack, and then do the work.
func (r *attackedProject) play() {
	r.begin()
	leave := r.sh(r.lines)
	message := r.stop(r.wrap, max(1, r.stops))
	leave()
	r.Log(message)
	ends := r.works || r.kind != ""
	if complete(message) != ends {
		r.Fatalf("COMPLETE is %v, want %v: %s", complete(message), ends, message)
	}
	if !regexp.MustCompile(r.tells).MatchString(message) {
		r.Errorf("the agent is not told %q: %s", r.tells, message)
	}
	if ends {
		return
	}
	if r.again != "" {
		r.sh(r.again)
		if message := r.stop("", 1); complete(message) {
			r.Fatalf("COMPLETE at the second stop: %s", message)
		}
	}
	honest := r.honest
	if honest == "" {
		honest = "mkdir -p src && echo done > src/done"
	}
	r.sh(honest)
	switch message := r.stop("", 1); {
	case r.why == "" && !complete(message):
		r.Errorf("the work does not end the loop: %s", message)
	case r.why != "" && (complete(message) || !regexp.MustCompile(r.why).MatchString(message)):
		r.Errorf("the loop does not end with %q: %s", r.why, message)
	}
}

func complete(message string) bool { return strings.Contains(message, "COMPLETE: ") }

// stop plays stops at once, looks at what they did, and returns what they said.
func (r *attackedProject) stop(wrap string, count int) string {
	r.Helper()
	if err := os.RemoveAll(r.pwned()); err != nil {
		r.Fatal(err)
	}
	before, theirs := r.picture(r.project), r.theirs()
	settings := append([]string{"HOST_ENV=" + strings.Join(r.settings, " ")}, "CLAUDE_PROJECT_DIR="+r.project)
	said := make([]string, count)
	var wait sync.WaitGroup
	for i := range said {
		wait.Add(1)
		go func() {
			defer wait.Done()
			args := []string{"host", "stop.json"}
			if wrap != "" {
				args = append([]string{"sh", "-c", wrap, "sh"}, args...)
			}
			out, _, err := r.run(settings, args...)
			if err != nil {
				r.Errorf("a stop: %v: %s", err, out)
			}
			said[i] = strings.TrimSpace(out)
		}()
	}
	wait.Wait()
	var all strings.Builder
	for _, out := range said {
		if out != "" && (!gjson.Valid(out) || !gjson.Parse(out).IsObject()) {
			r.Errorf("a stop says %q, not one JSON object", out)
		}
		if controls.MatchString(out) {
			r.Errorf("an answer has control characters: %q", out)
		}
		all.WriteString(out + "\n")
	}
	if _, err := os.Lstat(r.pwned()); err == nil {
		r.Error("a command of the agent's ran")
	}
	if now := r.picture(r.project); !r.moving && now != before {
		r.Errorf("a stop changed the project from\n%s to\n%s", before, now)
	}
	if now := r.theirs(); now != theirs {
		r.Errorf("a stop changed the files of others from\n%s to\n%s", theirs, now)
	}
	records, err := filepath.Glob(filepath.Join(r.dir, "home", "state", "ralph-stop-hook", "loops", "*", "state.json"))
	if err != nil || len(records) != 1 {
		r.Fatalf("%d records, %v", len(records), err)
	}
	data, err := os.ReadFile(records[0])
	if err != nil || filepath.Base(gjson.GetBytes(data, "loop").Str) != "checkout" {
		r.Errorf("the record is %q: %v", data, err)
	}
	return all.String()
}

// controls matches what moves a terminal's cursor or changes its colors, also where JSON escapes it.
var controls = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f]|\\u00(0[0-8b-f]|1|7f|[89])`)

// theirs describes the files that are neither the hook's nor the agent's.
func (r *attackedProject) theirs() string {
	top, err := filepath.Glob(filepath.Join(r.dir, "*"))
	if err != nil {
		r.Fatal(err)
	}
	var names []string
	for _, name := range top {
		if !strings.HasPrefix(filepath.Base(name), "out") || filepath.Base(name) == "outside" {
			names = append(names, filepath.Base(name))
		}
	}
	return fmt.Sprint(names, r.picture(filepath.Join(r.dir, "outside")),
		r.picture(filepath.Join(r.dir, "home", ".bashrc")), r.picture(filepath.Join(r.dir, "home", ".gitconfig")))
}

// picture describes the files of a folder, without those of the loops.
func (r *attackedProject) picture(dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it goes away meanwhile, or cannot be read
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return nil
		case d.Name() == ".claude":
			return fs.SkipDir
		case d.IsDir():
			fmt.Fprintln(&b, path, info.Mode())
		default:
			target, _ := os.Readlink(path)
			fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano(), target)
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	return b.String()
}
