//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// stage is a project of its own, with a user's state folder, in which one hook's
// stops are played. Each run begins with the files as they were when the stage
// was saved, so that every run is the same stop.
type stage struct {
	root, project, loop, state string
	env                        []string
	session                    string
	transcript                 string
	flush                      bool // on disk: what restore writes must not be the hook's to flush
	answer, trouble            string
	saved                      map[string]saved
	open                       []int64 // where the list has the `passes` of the next features
}

type saved struct {
	data []byte
	mode fs.FileMode
	info fs.FileInfo // as restored
}

// options say what a stage is like; none is an empty project.
type options struct {
	features   int    // 0: no loop
	limits     string // more of ralph.json's limits
	transcript string
	others     int    // loops of other sessions beside it
	path       string // a folder before PATH
	onDisk     bool
}

const (
	loopName = "bench"
	maxLoop  = 20_000 // iterations
)

// newStage makes a project, and a loop in it as a person does: by `init`, and by
// a prompt that names it.
func (b *bench) newStage(o options) (*stage, error) {
	in := b.memory
	if o.onDisk {
		in = b.disk
	}
	root, err := os.MkdirTemp(in, "stage-")
	if err != nil {
		return nil, err
	}
	s := &stage{
		root: root, project: filepath.Join(root, "project"), state: filepath.Join(root, "state"),
		session: "62cd9be3-64e1-430d-adba-94dad124a5a1", transcript: o.transcript, flush: o.onDisk,
		answer: filepath.Join(b.memory, filepath.Base(root)+".out"), trouble: filepath.Join(b.memory, filepath.Base(root)+".err"),
	}
	s.loop = filepath.Join(s.project, ".claude/data/ralph-loops", loopName)
	path := os.Getenv("PATH")
	if o.path != "" {
		path = o.path + ":" + path
	}
	s.env = []string{
		"PATH=" + path, "HOME=" + filepath.Join(root, "home"), "RALPH_STATE_DIR=" + s.state, "CLAUDE_PROJECT_DIR=" + s.project,
		"GIT_CONFIG_NOSYSTEM=1", "CLAUDE_PID=" + strconv.Itoa(os.Getpid()),
	}
	for _, dir := range []string{s.state, s.loop, filepath.Join(root, "home")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if err := s.command("git", "init", "-q"); err != nil {
		return nil, err
	}
	if o.features == 0 {
		return s, os.RemoveAll(filepath.Join(s.project, ".claude"))
	}
	for n := range o.others { // `init` makes the last one `current`
		if err := s.begin(b, fmt.Sprintf("other-%d", n+1), fmt.Sprintf("session-%d", n+1), 10, ""); err != nil {
			return nil, err
		}
	}
	return s, s.begin(b, loopName, s.session, o.features, o.limits)
}

// begin makes a loop and gives it to a session.
func (s *stage) begin(b *bench, name, session string, features int, limits string) error {
	dir := filepath.Join(filepath.Dir(s.loop), name)
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = s.writeList(filepath.Join(dir, "feature_list.json"), features)
	}
	if err == nil {
		err = s.command(b.hook.argv[0], "init", name, "--settings", "none", "--max-iterations", strconv.Itoa(maxLoop))
	}
	if err == nil && limits != "" {
		text := fmt.Sprintf(`{"bind": "prompt", "limits": {"max_iterations": %d, %s}}`, maxLoop, limits)
		if err = os.WriteFile(filepath.Join(dir, "ralph.json"), []byte(text), 0o644); err == nil {
			err = s.command(b.hook.argv[0], "trust", name, "--yes")
		}
	}
	if err != nil {
		return err
	}
	prompt, err := os.ReadFile(filepath.Join(dir, "RALPH_PROMPT.md"))
	if err == nil {
		err = s.payload("user-prompt-submit.json", map[string]any{"session_id": session, "prompt": string(prompt)})
	}
	if err == nil {
		_, err = s.run(b.hook.argv)
	}
	if err == nil {
		err = s.payload("stop.active.json", nil)
	}
	return err
}

// command runs a person's command in the project.
func (s *stage) command(argv ...string) error {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Env = s.project, s.env
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}

// stdin is the payload of the next event.
func (s *stage) stdin() string { return filepath.Join(s.root, "event.json") }

// payload makes the next event of one that was recorded.
func (s *stage) payload(recorded string, set map[string]any) error {
	text, err := os.ReadFile(filepath.Join("internal/claude/testdata/payloads", recorded))
	if err != nil {
		return err
	}
	event := map[string]any{}
	if err := json.Unmarshal(text, &event); err != nil {
		return err
	}
	event["cwd"], event["session_id"], event["transcript_path"] = s.project, s.session, s.transcript
	maps.Copy(event, set)
	if text, err = json.Marshal(event); err != nil {
		return err
	}
	return os.WriteFile(s.stdin(), text, 0o600)
}

// writeList writes a list of so many features on a line each, some 180 bytes,
// the first half of which passes. It streams: a large one must not be in memory.
func (s *stage) writeList(path string, features int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w, at := bufio.NewWriter(f), int64(0)
	write := func(format string, args ...any) {
		n, _ := fmt.Fprintf(w, format, args...) // Flush has the error
		at += int64(n)
	}
	write("[\n")
	s.open = nil
	for n := range features {
		passes, end := "false", "},\n"
		if n < features/2 {
			passes = "true "
		} else if n%3 == 0 {
			s.open = append(s.open, 0)
		}
		if n == features-1 {
			end = "}\n]\n"
		}
		write(`  {"id": "feature-%06d", "priority": %d, "title": "Line %d of an order", "description": "An order of %d lines shows what each costs, and a total that is right.", "passes": `, n+1, n%3+1, n+1, n+1)
		if n >= features/2 && n%3 == 0 {
			s.open[len(s.open)-1] = at
		}
		write("%s%s", passes, end)
	}
	return w.Flush()
}

// pass is what an agent does in a turn: the next feature passes. Only those of
// the first priority are there to pass.
func (s *stage) pass() error {
	if len(s.open) == 0 {
		return fmt.Errorf("the list of %s has nothing left to pass", s.root)
	}
	f, err := os.OpenFile(filepath.Join(s.loop, "feature_list.json"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt([]byte("true "), s.open[0])
	s.open = s.open[1:]
	return err
}

// save keeps the files that a stop may change.
func (s *stage) save() error {
	s.saved = map[string]saved{}
	return s.files(func(path string, info fs.FileInfo) error {
		data, err := os.ReadFile(path)
		s.saved[path] = saved{data: data, mode: info.Mode(), info: info}
		return err
	})
}

// files calls do for each file that a stop may change.
func (s *stage) files(do func(string, fs.FileInfo) error) error {
	for _, dir := range []string{s.loop, s.state} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || entry.Name() == "feature_list.json" {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				err = do(path, info)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// restore brings the files back that were saved. What has not changed is not
// written.
func (s *stage) restore() error {
	if s.saved == nil {
		return nil
	}
	missing := maps.Clone(s.saved)
	err := s.files(func(path string, info fs.FileInfo) error {
		was, is := missing[path]
		if !is {
			return os.Remove(path)
		}
		if os.SameFile(info, was.info) && info.Size() == was.info.Size() && info.ModTime().Equal(was.info.ModTime()) {
			delete(missing, path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for path, was := range missing {
		if err := os.WriteFile(path, was.data, was.mode); err != nil {
			return err
		}
		if was.info, err = os.Lstat(path); err != nil {
			return err
		}
		s.saved[path] = was
	}
	if !s.flush {
		return nil
	}
	d, err := os.Open(s.root)
	if err != nil {
		return err
	}
	defer d.Close()
	return unix.Syncfs(int(d.Fd()))
}
