//go:build faults && linux

package faults

import (
	"encoding/json"
	"fmt"
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// program is a build of the product.
type program struct {
	name string
	path string
}

// change is one thing that is broken in a program: a function of the product gets
// another body. The body can call the function as it was, whose name then ends with
// Unbroken.
type change struct {
	in   string // package folder, below the repository's root
	of   string // function, or Type.Method
	body string
}

// file is a change of a whole file: text in the place of old, or, if old is empty, the
// file's whole text. It is for what no body of a function of the product can say.
type file struct{ path, old, text string }

const inLibrary = "GOROOT/" // begins the path of a file of Go's own library

// oneThread keeps all of a run in its first thread. Then the order of its system calls
// is the same each time, and strace, which counts by thread, sees them all.
var oneThread = []file{
	{path: "cmd/ralph-stop-hook/one_thread.go", text: `package main

import "runtime"

func init() { runtime.LockOSThread() }
`},
	// Calls fail in that thread. If Go cannot read whether a process was started, it
	// waits for the end of that process, before any line of ours runs. The process may
	// wait for us. So here Go takes it for started.
	{
		inLibrary + "src/syscall/exec_unix.go",
		"\tClose(p[0])\n\tif err != nil || n != 0 {\n",
		"\tClose(p[0])\n\tif err != nil {\n\t\tn, err = 0, nil\n\t}\n\tif err != nil || n != 0 {\n",
	},
}

// clock puts a program's clock ahead of the system's, by as many seconds as the harness
// says. How much time passes in a program stays the same.
var clock = []file{
	{
		inLibrary + "src/time/time.go",
		"\tsec, nsec, mono := runtimeNow()\n",
		"\tsec, nsec, mono := runtimeNow()\n\tsec += ahead\n",
	},
	{path: inLibrary + "src/time/ahead.go", text: `package time

import "syscall"

var ahead = func() (sec int64) {
	text, _ := syscall.Getenv("FAULTS_AHEAD")
	for _, c := range []byte(text) {
		sec = 10*sec + int64(c-'0')
	}
	return sec
}()
`},
}

// build is what a program is built from.
type build struct {
	files  []file
	broken []change
	runner bool // it is ralph-runner
}

// traced is a program that strace can follow, with a clock of the harness's. All have that clock, also where nothing
// sets it, so that Go compiles what needs the changed library once.
func traced(broken ...change) build {
	return build{files: slices.Concat(oneThread, clock), broken: broken}
}

// tracedRun is such a ralph-runner.
func tracedRun(broken ...change) build {
	b := traced(broken...)
	b.files[0].path, b.runner = "cmd/ralph-runner/one_thread.go", true
	return b
}

func plainRun(broken ...change) build { return build{nil, broken, true} }

func plain(broken ...change) build { return build{broken: broken} }

// unguarded starts no guard, which kills what is left, too.
var unguarded = change{"internal/proc", "Run", `
	c.Guard = ""
	return RunUnbroken(ctx, c)`}

// strayFile makes a temporary file as a write that was cut off leaves it.
const strayFile = `root.WriteFile("."+name+"123456789012345678", data, perm)`

// programs are the product, and the product with one thing broken.
var programs = map[string]build{
	"product":    plain(),
	"one thread": traced(),

	"writes in place": traced(change{"internal/loopdir", "rename", `return root.WriteFile(name, data, perm)`}),
	"renames without a flush": traced(change{"internal/loopdir", "rename", `
		if err := ` + strayFile + `; err != nil {
			return err
		}
		return root.Rename("."+name+"123456789012345678", name)`}),
	"does not flush the folder": traced(change{"internal/loopdir", "syncDir", `return nil`}),
	"leaves temporary files":    traced(change{"internal/loopdir", "sweep", ``}),
	"keeps a failed write": traced(change{"internal/loopdir", "rename", `
		err := renameUnbroken(root, name, data, perm, confirm)
		if err != nil {
			_ = ` + strayFile + `
		}
		return err`}),
	"sweeps under the lock alone": traced(change{"internal/loopdir", "sweep", `
		if age == 0 {
			sweepUnbroken(root, d, name, age)
		}`}),
	"takes its own header for a person's": traced(change{"internal/loopdir", "Store.Commit", `
		next.Before = next.Header
		return s.CommitUnbroken(next)`}),
	"marks before it tells": traced(change{"internal/loop", "Picture.runNotifiers", `
		_ = p.Loop.mark(what.DeliveryID, nil, LockWait)
		return p.runNotifiersUnbroken(ctx, commands, what, deadline, hear)`}),
	"tells trouble at each stop": plain(change{"internal/loopdir", "Store.FirstTime", `return true`}),
	"tells nothing later":        traced(change{"internal/loop", "Loop.SendPending", ``}),
	"tells iterations twice": traced(change{"internal/loop", "Loop.sendApart", `
		if len(args) > 0 {
			_, _ = l.sendApartUnbroken(args...)
		}
		return l.sendApartUnbroken(args...)`}),
	"ends what has ended": traced(change{"internal/decide", "Bystander", `
		if s.Event == EventFailure || s.Event == EventEnd && !s.inOtherClient() {
			return s.State.Session == "" || s.State.Session != s.Session
		}
		return BystanderUnbroken(s)`}),
	"believes an evaluator that fails": traced(change{"internal/loop", "checker.ask", `
		a, err := r.askUnbroken(ctx, e, d, ev)
		if a.Action == decide.AnswerEscalate {
			a.Action = decide.AnswerComplete
		}
		return a, err`}),

	"takes a loop from a run": plain(change{"internal/decide", "Snapshot.ownerLives", `return false`}),

	"shows every loop at work": plain(change{"internal/verb", "phase", `return Working, time.Time{}`}),

	"takes no lock":   plain(change{"internal/loopdir", "TryLock", `return true, nil`}),
	"has two senders": plain(change{"internal/loopdir", "Store.LockSender", `return func() {}, nil`}),
	"kills no group": plain(unguarded, change{"internal/proc", "group", `
		g := groupUnbroken(cmd)
		cmd.Cancel = func() error { return cmd.Process.Kill() }
		return g`}),
	"waits for ever": plain(unguarded, change{"internal/proc", "group", `
		cmd.WaitDelay = 1 << 60
		return groupUnbroken(cmd)`}),
	"keeps all output": plain(change{"internal/proc", "Tail.Write", `
		t.buf = append(t.buf, p...)
		return len(p), nil`}),

	"tells again and again": traced(change{"internal/loop", "Loop.mark", `return nil`}),
	"lets logs grow": traced(change{"internal/loopdir", "AppendLog", `
		f, _, err := openFile(root, name, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.Write(line)
		return err`}),
	"has no deadline": traced(change{"internal/decide", "State.PastDeadline", `return false`}),
	"forgets the hour": traced(change{"internal/decide", "State.LastHour", `
		return s.LastHourUnbroken(now.Add(30 * time.Minute))`}),
	"lets an agent wait for ever": traced(change{"internal/decide", "backgroundWork", `
		patient := *st.Snapshot
		patient.Limits.MaxWait = 1 << 60
		st.Snapshot = &patient
		return backgroundWorkUnbroken(st)`}),
	"takes a loop from who works it": traced(change{"internal/decide", "Snapshot.ownerLives", `
		return s.OwnerAlive && (s.OwnerKnown || s.Now.Sub(s.State.Seen).Abs() < time.Minute)`}),
}

// root is the repository's.
var root, _ = filepath.Abs("..")

// bin is where the programs are built, one folder each.
var bin string

var built sync.Map // of name to func() (program, error)

// get builds a program, once.
func get(name string) (program, error) {
	once, _ := built.LoadOrStore(name, sync.OnceValues(func() (program, error) { return newProgram(name) }))
	return once.(func() (program, error))()
}

// buildOf returns what a program is built from.
func buildOf(name string) (build, bool) {
	if b, is := programs[name]; is {
		return b, true
	}
	b, is := runners[name]
	return b, is
}

func newProgram(name string) (program, error) {
	dir := filepath.Join(bin, strings.ReplaceAll(name, " ", "-"))
	b, is := buildOf(name)
	if !is {
		return program{}, fmt.Errorf("there is no program %q", name)
	}
	command := "ralph-stop-hook"
	if b.runner {
		command = "ralph-runner"
	}
	p := program{name: name, path: filepath.Join(dir, command)}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return p, err
	}
	texts, err := b.texts()
	if err != nil {
		return p, fmt.Errorf("the program that %s: %w; mend faults/program_test.go", name, err)
	}
	overlay, err := writeOverlay(dir, texts)
	if err != nil {
		return p, err
	}
	cmd := exec.Command("go", "build", "-overlay", overlay, "-trimpath", "-ldflags=-s -w", "-gcflags=-l",
		"-o", p.path, "./cmd/"+command)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("the program that %s cannot be built: %w\n%s", name, err, out)
	}
	return p, nil
}

// writeOverlay writes the texts of files into dir, and the file that has `go build` use
// them.
func writeOverlay(dir string, texts map[string]string) (path string, err error) {
	replace := map[string]string{}
	for file, text := range texts {
		replace[file] = filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(replace[file], []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o644)
}

// texts returns the text of each file that differs from the product's, by its path.
func (b build) texts() (map[string]string, error) {
	texts := map[string]string{}
	for _, f := range b.files {
		path, err := f.absolute()
		if err != nil {
			return nil, err
		}
		if texts[path] = f.text; f.old == "" {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if strings.Count(string(source), f.old) != 1 {
			return nil, fmt.Errorf("%s does not have %q exactly once", f.path, f.old)
		}
		texts[path] = strings.Replace(string(source), f.old, f.text, 1)
	}
	for _, c := range b.broken {
		path, text, err := c.apply(texts)
		if err != nil {
			return nil, err
		}
		texts[path] = text
	}
	return texts, nil
}

func (f file) absolute() (string, error) {
	name, is := strings.CutPrefix(f.path, inLibrary)
	if !is {
		return filepath.Join(root, f.path), nil
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	return filepath.Join(strings.TrimSpace(string(goroot)), name), err
}

// apply finds the function in its package. It returns the path of the function's file,
// and the text of the file with the function as it was under its other name, and after
// that the broken one. texts are files that differ from the product's already.
func (c change) apply(texts map[string]string) (path, text string, err error) {
	dir := filepath.Join(root, c.in)
	pkg, err := gobuild.ImportDir(dir, 0)
	if err != nil {
		return "", "", err
	}
	for _, name := range pkg.GoFiles {
		path := filepath.Join(dir, name)
		source, err := os.ReadFile(path)
		if err != nil {
			return "", "", err
		}
		if changed, is := texts[path]; is {
			source = []byte(changed)
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
		if err != nil {
			return "", "", err
		}
		for _, d := range parsed.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Body == nil || fullName(f) != c.of {
				continue
			}
			at := func(p token.Pos) int { return set.Position(p).Offset }
			head, end := string(source[at(f.Pos()):at(f.Body.Pos())]), at(f.Name.End())
			text := string(source[:end]) + "Unbroken" + string(source[end:])
			return path, text + "\n" + head + "{\n" + c.body + "\n}\n", nil
		}
	}
	return "", "", fmt.Errorf("%s has no function %s", c.in, c.of)
}

// fullName returns the name of a function, with its receiver's type before it.
func fullName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if pointer, is := of.(*ast.StarExpr); is {
		of = pointer.X
	}
	return fmt.Sprint(of) + "." + f.Name.Name
}

// TestPrograms names each program whose function is gone. It builds none.
func TestPrograms(t *testing.T) {
	for _, all := range []map[string]build{programs, runners} {
		for name, b := range all {
			if _, err := b.texts(); err != nil {
				t.Errorf("the program that %s: %v", name, err)
			}
		}
	}
}
