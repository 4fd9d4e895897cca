//go:build faults && linux

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// program is a build of the product.
type program struct {
	name string
	path string
}

// change puts one text in the place of another in a source file.
type change struct{ file, old, new string }

// oneThread keeps all of a run in its first thread, so that the order of its system
// calls is the same each time, and strace, which counts by thread, sees them all.
var oneThread = change{file: "cmd/ralph-stop-hook/one_thread.go", new: "package main\n\nimport \"runtime\"\n\nfunc init() { runtime.LockOSThread() }\n"}

// clock puts a program's clock ahead of the system's by so many seconds as the harness
// says, by a line in Go's own library. What has passed since is as long as ever.
var clock = []change{
	{"GOROOT/src/time/time.go", "\tsec, nsec, mono := runtimeNow()\n", "\tsec, nsec, mono := runtimeNow()\n\tsec += ahead\n"},
	{file: "GOROOT/src/time/ahead.go", new: "package time\n\nimport \"syscall\"\n\nvar ahead = func() (sec int64) {\n\ttext, _ := syscall.Getenv(\"FAULTS_AHEAD\")\n\tfor _, c := range []byte(text) {\n\t\tsec = 10*sec + int64(c-'0')\n\t}\n\treturn sec\n}()\n"},
}

// onClock is a program with such a clock, in one thread, and with more changed.
func onClock(more ...change) []change { return append(append(more, oneThread), clock...) }

// started has Go take a process for started where it could not read whether it was:
// else it waits, before any line of ours, for the end of a process that may wait for
// us. It goes with one thread, whose calls fail.
var started = change{"GOROOT/src/syscall/exec_unix.go", "\tClose(p[0])\n\tif err != nil || n != 0 {\n", "\tClose(p[0])\n\tif err != nil {\n\t\tn, err = 0, nil\n\t}\n\tif err != nil || n != 0 {\n"}

const renameHead = "func rename(root *os.Root, name string, data []byte, perm os.FileMode, last func() error) error {\n"

// The programs: the product, and the product with one thing broken. A text that is
// no longer there once fails the build, and with it every test.
var programs = map[string][]change{
	"product":      nil,
	"one thread":   {oneThread},
	"with a clock": onClock(),

	"writes in place":                     {oneThread, {"internal/loopdir/replace_unix.go", renameHead, renameHead + "\tif true {\n\t\treturn root.WriteFile(name, data, perm)\n\t}\n"}},
	"renames without a flush":             {oneThread, {"internal/loopdir/replace_unix.go", renameHead, renameHead + "\tif t := \".\" + name + \"123456\"; true {\n\t\tif err := root.WriteFile(t, data, perm); err != nil {\n\t\t\treturn err\n\t\t}\n\t\treturn root.Rename(t, name)\n\t}\n"}},
	"does not flush the folder":           {oneThread, {"internal/loopdir/os_unix.go", "{ return d.Sync() }", "{ return nil }"}},
	"leaves temporary files":              {oneThread, {"internal/loopdir/replace.go", "names, _ := d.Readdirnames(-1)", "var names []string"}},
	"keeps a failed write":                {oneThread, {"internal/loopdir/replace_unix.go", "_ = f.Cleanup()", "_ = f.Close()"}},
	"tells nothing later":                 {oneThread, {"cmd/ralph-stop-hook/send.go", "func due(n decide.Notice) bool {\n", "func due(n decide.Notice) bool {\n\tif true {\n\t\treturn false\n\t}\n"}},
	"takes its own header for a person's": {oneThread, {"cmd/ralph-stop-hook/person.go", "decide.Face(next, next.Limit(l.snap.Limits)), l.snap.Header\n", "decide.Face(next, next.Limit(l.snap.Limits)), l.snap.Header\n\tnext.Before = next.Header\n"}},
	"sweeps under the lock alone":         {oneThread, {"internal/loopdir/replace.go", "const abandoned = time.Minute", "const abandoned = 24 * time.Hour"}},
	"tells iterations twice":              {oneThread, {"cmd/ralph-stop-hook/hook.go", "\t\t\t_, _ = sendApart(store, \"\", \"--iteration\", strconv.Itoa(d.Next.Iteration)) //", "\t\t\t_, _ = sendApart(store, \"\", \"--iteration\", strconv.Itoa(d.Next.Iteration))\n\t\t\t_, _ = sendApart(store, \"\", \"--iteration\", strconv.Itoa(d.Next.Iteration)) //"}},
	"ends what has ended":                 {oneThread, {"internal/decide/decide.go", "with an agent's id.\n\t\treturn !owner || s.State.Status != InProgress\n", "with an agent's id.\n\t\treturn !owner\n"}},
	"believes an evaluator that fails":    {oneThread, {"cmd/ralph-stop-hook/ask.go", "decide.Answer{Action: decide.AnswerEscalate,", "decide.Answer{Action: decide.AnswerComplete,"}},

	"tells again and again":          onClock(change{"cmd/ralph-stop-hook/send.go", "func mark(s *loopdir.Store, id string) error {\n", "func mark(s *loopdir.Store, id string) error {\n\tif true {\n\t\treturn nil\n\t}\n"}),
	"takes no lock":                  {{"internal/loopdir/os_unix.go", "err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)", "var err error"}},
	"kills no group":                 {{"internal/proc/proc_unix.go", "return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)", "return cmd.Process.Kill()"}},
	"waits for ever":                 {{"internal/proc/proc.go", "waitDelay  = 200 * time.Millisecond", "waitDelay  = time.Hour"}},
	"keeps all output":               {{"internal/proc/tail.go", "if len(t.buf)+len(p) > 2*t.limit {", "if false {"}},
	"lets logs grow":                 onClock(change{"internal/loopdir/log.go", "const maxLog = 1 << 20", "const maxLog = 1 << 40"}),
	"has no deadline":                onClock(change{"internal/decide/limits.go", "return deadline > 0 && !s.StartedAt", "return false && !s.StartedAt"}),
	"forgets the hour":               onClock(change{"internal/decide/limits.go", "return now.Unix()-at >= 3600 }", "return now.Unix()-at >= 1800 }"}),
	"lets an agent wait for ever":    onClock(change{"internal/decide/decide.go", "if s.Now.Sub(d.Next.WaitingSince) >= s.Limits.MaxWait {", "if false {"}),
	"takes a loop from who works it": onClock(change{"internal/decide/events.go", "const unseen = time.Hour", "const unseen = time.Minute"}),
}

// root is the repository's.
var root, _ = filepath.Abs("..")

// bin is where the programs are built, one folder each.
var bin string

var built sync.Map // of name to func() (program, error)

// get builds a program, once.
func get(name string) (program, error) {
	once, _ := built.LoadOrStore(name, sync.OnceValues(func() (program, error) { return build(name) }))
	return once.(func() (program, error))()
}

func build(name string) (program, error) {
	dir := filepath.Join(bin, strings.ReplaceAll(name, " ", "-"))
	p := program{name: name, path: filepath.Join(dir, "ralph-stop-hook")}
	changes, ok := programs[name]
	if !ok {
		return p, fmt.Errorf("no program %q", name)
	}
	overlay := map[string]string{}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return p, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return p, err
	}
	if slices.Contains(changes, oneThread) {
		changes = append(changes[:len(changes):len(changes)], started)
	}
	for i, c := range changes {
		file, text := filepath.Join(root, c.file), c.new
		if name, library := strings.CutPrefix(c.file, "GOROOT/"); library {
			file = filepath.Join(strings.TrimSpace(string(goroot)), name)
		}
		if c.old != "" {
			source, err := os.ReadFile(file)
			if err != nil {
				return p, err
			}
			if strings.Count(string(source), c.old) != 1 {
				return p, fmt.Errorf("the program that %s: %s does not have %q once any more; change program_test.go with it", name, c.file, c.old)
			}
			text = strings.Replace(string(source), c.old, c.new, 1)
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return p, err
		}
		overlay[file] = path
	}
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return p, err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), data, 0o644); err != nil {
		return p, err
	}
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-trimpath", "-ldflags=-s -w", "-gcflags=-l", "-o", p.path, "./cmd/ralph-stop-hook")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("the program that %s cannot be built: %w\n%s", name, err, out)
	}
	return p, nil
}
