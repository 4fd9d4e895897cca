//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	loopName = "bench"
	listName = "feature_list.json"
	maxLoop  = 20_000 // the loop's limit of iterations
)

// options say what a stage is like. The zero value is a project without a loop.
type options struct {
	features   int    // how many features the list has
	rules      string // the keys of a trusted ralph.json, without "bind"; empty: what init writes
	idle       bool   // nobody has given the loop's prompt; start does
	run        bool   // every feature is open, nobody has given the loop's prompt, and a run changes the list
	left       int    // with run: only so many features, the last ones, are open; 0: all are
	lanes      bool   // with run: features depend on others
	transcript string // path
	files      int    // how many files the project has beside, all of them committed
	ignored    int    // and how many that git ignores
	onDisk     bool
}

// stage is a project of its own, with a state folder of its own, where the stops of one hook are played. restore
// brings back the files that are saved, so that every run is the same stop.
type stage struct {
	options
	root, project, loop, state string
	event, answer, trouble     string // files: the payload on standard input, standard output, standard error
	env                        []string
	open                       int64             // offset in the list of the first "passes" that pass changes
	saved                      map[string][]byte // content by path
	cpu                        time.Duration     // what the process that was played last took, with its children
	edits                      int               // how often edit was called
}

// newStage makes a project, and a loop in it as a person does: with init, and with a prompt that names the loop. The
// event of the stage is then a stop.
func (b *bench) newStage(o options) *stage {
	in := b.memory
	if o.onDisk {
		in = b.disk
	}
	root := must(os.MkdirTemp(in, "stage-"))
	out := filepath.Join(b.memory, filepath.Base(root))
	s := &stage{
		options: o, root: root, project: filepath.Join(root, "project"), state: filepath.Join(root, "state"),
		event: filepath.Join(root, "event.json"), answer: out + ".out", trouble: out + ".err",
	}
	s.loop = filepath.Join(s.project, ".claude/data/ralph-loops", loopName)
	home := filepath.Join(root, "home")
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
		"RALPH_STATE_DIR=" + s.state, "CLAUDE_PROJECT_DIR=" + s.project, "CLAUDE_PID=" + strconv.Itoa(os.Getpid()),
	}
	for _, dir := range []string{s.state, s.project, home} {
		check(os.MkdirAll(dir, 0o700))
	}
	s.command("git", "init", "-q")
	s.writeFiles()
	if o.features == 0 {
		s.payload("stop.json", nil)
		return s
	}
	check(os.MkdirAll(s.loop, 0o755))
	s.writeList() // init refuses a list without open features
	ralph := b.hook.argv[0]
	s.command(ralph, "init", loopName, "--settings", "none", "--max-iterations", strconv.Itoa(maxLoop))
	if o.run {
		s.payload("stop.json", nil) // nobody reads it
		return s
	}
	if o.rules != "" {
		text := []byte(`{"bind": "prompt", ` + o.rules + `}`)
		check(os.WriteFile(filepath.Join(s.loop, "ralph.json"), text, 0o644))
		s.command(ralph, "trust", loopName, "--yes")
	}
	if o.idle {
		s.payload("stop.json", nil) // nobody reads it
		return s
	}
	b.start(s)
	return s
}

// start gives the loop's prompt. The event of the stage is then a stop.
func (b *bench) start(s *stage) {
	prompt := must(os.ReadFile(filepath.Join(s.loop, "RALPH_PROMPT.md")))
	s.payload("user-prompt-submit.json", map[string]any{"prompt": string(prompt)})
	must(play(b.hook.argv, s))
	s.payload("stop.active.json", nil)
}

// command runs a person's command in the project.
func (s *stage) command(argv ...string) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Env = s.project, s.env
	if out, err := c.CombinedOutput(); err != nil {
		check(fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out))
	}
}

// agent makes an agent of that name for ralph-runner.
func (s *stage) agent(name string, command ...string) {
	dir := filepath.Join(s.root, "home", ".config", "ralph-stop-hook")
	agents := map[string]any{"agents": map[string]any{name: map[string]any{"command": command, "output": "claude"}}}
	check(os.MkdirAll(dir, 0o700))
	check(os.WriteFile(filepath.Join(dir, "config.json"), must(json.Marshal(agents)), 0o600))
}

// payload writes the next event: a recorded one, with this stage's paths and with the keys of set.
func (s *stage) payload(recorded string, set map[string]any) {
	event := map[string]any{}
	check(json.Unmarshal(must(os.ReadFile(filepath.Join("internal/client/testdata/payloads", recorded))), &event))
	event["cwd"], event["transcript_path"] = s.project, s.transcript
	event["session_id"] = "62cd9be3-64e1-430d-adba-94dad124a5a1"
	maps.Copy(event, set)
	check(os.WriteFile(s.event, must(json.Marshal(event)), 0o600))
}

func (s *stage) list() string { return filepath.Join(s.loop, listName) }

// writeList writes the list: a feature on each line, some 180 bytes long. The first half passes.
func (s *stage) writeList() {
	var b bytes.Buffer
	between := "[\n"
	for n := range s.features {
		passes := n < s.features/2 && !s.run || n < s.features-s.openAtFirst()
		fmt.Fprintf(&b, `%s  {"id": "feature-%06d", "priority": %d, "title": "Line %[2]d of an order", `+
			`"description": "An order of %[2]d lines shows what each costs, and a total that is right.", "passes": `,
			between, n+1, n%3+1)
		if !passes && n%3 == 0 && s.open == 0 {
			s.open = int64(b.Len())
		}
		fmt.Fprintf(&b, "%-5t", passes)
		if s.lanes && n >= apart {
			fmt.Fprintf(&b, `, "depends_on": ["feature-%06d"]`, n+1-apart)
		}
		b.WriteByte('}')
		between = ",\n"
	}
	b.WriteString("\n]\n")
	check(os.WriteFile(s.list(), b.Bytes(), 0o644))
}

// openAtFirst returns how many features are open before a run.
func (s *stage) openAtFirst() int {
	if s.left == 0 {
		return s.features
	}
	return s.left
}

// pass is what an agent does in a turn: it lets one more feature pass. With false, that feature is open again.
func (s *stage) pass(passes bool) {
	f := must(os.OpenFile(s.list(), os.O_WRONLY, 0))
	defer f.Close()
	must(f.WriteAt(fmt.Appendf(nil, "%-5t", passes), s.open))
}

// written reads the files that a stop may change.
func (s *stage) written() map[string][]byte {
	all := map[string][]byte{}
	for _, dir := range []string{s.loop, s.state} {
		check(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && (entry.Name() != listName || s.run) {
				all[path], err = os.ReadFile(path)
			}
			return err
		}))
	}
	return all
}

// restore brings back the saved files. It does nothing on a stage that was not saved.
func (s *stage) restore() {
	if s.saved == nil {
		return
	}
	if s.run {
		check(os.RemoveAll(filepath.Join(s.project, ".agent-state")))
	}
	now := s.written()
	for path := range now {
		if _, kept := s.saved[path]; !kept {
			check(os.Remove(path))
		}
	}
	for path, data := range s.saved {
		if is, there := now[path]; !there || !bytes.Equal(is, data) {
			check(os.WriteFile(path, data, 0o600))
		}
	}
	if s.onDisk { // the hook must not have to flush what was written here
		d := must(os.Open(s.root))
		defer d.Close()
		check(unix.Syncfs(int(d.Fd())))
	}
}
