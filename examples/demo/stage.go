package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Paths in the project.
const (
	listFile     = "feature_list.json"
	loopDir      = ".claude/data/ralph-loops/checkout/"
	progressFile = loopDir + "progress.txt"
	noticesFile  = "notices.json" // what the on-complete command was given
)

// stage is the project and the host in it. It keeps the first error, and after
// one it does nothing more.
type stage struct {
	ctx      context.Context
	dir      string // of the project
	bin      string // the folder of the programs
	agents   string // the folder of the scripted agent
	hook     string // called instead of the installed one
	color    bool
	settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
			}
		}
	}
	err error
}

func (s *stage) check(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *stage) printf(format string, args ...any) {
	if s.err == nil {
		_, err := fmt.Printf(format, args...)
		s.check(err)
	}
}

func (s *stage) paint(sgr, text string) string {
	if !s.color {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

func (s *stage) read(name string) string {
	if s.err != nil {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	s.check(err)
	return string(text)
}

func (s *stage) write(name, text string) {
	if s.err == nil {
		s.check(os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644))
	}
}

// exec runs a program and returns its standard output.
func (s *stage) exec(stdin []byte, name string, args ...string) []byte {
	if s.err != nil {
		return nil
	}
	cmd := exec.CommandContext(s.ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stderr = s.dir, bytes.NewReader(stdin), &stderr
	out, err := cmd.Output()
	if err != nil {
		s.check(fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), args[0], err, stderr.Bytes()))
	}
	return out
}

// build makes the programs, the project with its list, and an environment that has
// nothing of the person's own settings and loops. Each feature in the list has more, with its id for %s.
func (s *stage) build(temp, more string, programs ...string) {
	if s.bin == "" {
		s.bin = filepath.Join(temp, "bin")
		// Without cgo there is far less to compile on a fresh machine. Stamping
		// would fail where git does not trust the checkout.
		s.check(os.Setenv("CGO_ENABLED", "0"))
		args := []string{"build", "-buildvcs=false", "-o", s.bin + string(os.PathSeparator)}
		s.exec(nil, "go", append(args, programs...)...)
	}
	if s.err != nil {
		s.err = fmt.Errorf("call 'go run ./examples/demo' in the repository's root: %w", s.err)
		return
	}
	for _, kv := range os.Environ() {
		for _, prefix := range []string{"CLAUDE", "RALPH_", "XDG_"} {
			if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, prefix) {
				s.check(os.Unsetenv(name))
			}
		}
	}
	s.dir, s.agents = filepath.Join(temp, "shop"), filepath.Join(temp, "agents")
	for name, value := range map[string]string{
		"HOME": temp, "USERPROFILE": temp, "APPDATA": temp,
		"RALPH_STATE_DIR": filepath.Join(temp, "state"), "CLAUDE_PROJECT_DIR": s.dir,
		"PATH": strings.Join([]string{s.agents, s.bin, os.Getenv("PATH")}, string(os.PathListSeparator)),
	} {
		s.check(os.Setenv(name, value))
	}
	s.check(errors.Join(os.Mkdir(s.dir, 0o755), os.Mkdir(s.agents, 0o755)))
	items := make([]string, len(features))
	for i, f := range features {
		items[i] = "  " + f.json(false)
		if more != "" {
			items[i] = strings.TrimSuffix(items[i], "}") + ", " + fmt.Sprintf(more, f.id) + "}"
		}
	}
	s.write(noticesFile, "")
	s.write(listFile, "[\n"+strings.Join(items, ",\n")+"\n]\n")
}

// notifier returns the on-complete command, and the file in the project that it
// runs: a copy of this program, whose own path may need quotes, and sh and
// cmd.exe differ in theirs.
func notifier() (file, command string) {
	if runtime.GOOS == "windows" {
		return "notify.exe", `.\notify -store ` + noticesFile
	}
	return "notify", "./notify -store " + noticesFile
}

// copySelf puts this program into a folder.
func (s *stage) copySelf(dir, name string) {
	self, err := os.Executable()
	s.check(err)
	binary, err := os.ReadFile(self)
	s.check(err)
	if s.err == nil {
		s.check(os.WriteFile(filepath.Join(dir, name), binary, 0o755))
	}
}

// init makes the loop, as a person does, and reads the settings, as a host does.
func (s *stage) init() {
	file, command := notifier()
	s.copySelf(s.dir, file)
	s.copySelf(s.dir, strings.Replace(file, "notify", "verify", 1))
	check := "./verify -check $RALPH_FEATURE"
	if runtime.GOOS == "windows" {
		check = `.\verify -check %RALPH_FEATURE%`
	}
	args := []string{"init", "checkout", "--max-iterations", "12", "--check", check, "--on-complete", command}
	out := s.exec(nil, "ralph-stop-hook", args...)
	line := fmt.Sprintf("$ ralph-stop-hook %s '%s' --on-complete '%s'", strings.Join(args[:5], " "), check, command)
	s.printf("%s\n%s\n", s.paint(bold, line), out)
	if text := s.read(".claude/settings.json"); s.err == nil {
		s.check(json.Unmarshal([]byte(text), &s.settings))
	}
}

// answer is what the hook prints; zero where it prints nothing.
type answer struct {
	Decision, Reason, SystemMessage string
	HookSpecificOutput              struct{ AdditionalContext string }
}

// prompt is what the agent goes on with: the reason of a block, or context beside none. At the
// end of a loop there is neither.
func (a answer) prompt() string {
	if a.Decision == "block" {
		return a.Reason
	}
	return a.HookSpecificOutput.AdditionalContext
}

// call does what the host does at an event: it runs the hook that the settings
// name for it, if they do, and reads the one object that it may print.
func (s *stage) call(event string, payload map[string]any) (a answer) {
	groups := s.settings.Hooks[event]
	if len(groups) == 0 || len(groups[0].Hooks) == 0 {
		return a
	}
	entry := groups[0].Hooks[0]
	switch line := entry.Args == nil; { // for a shell
	case line && s.hook != "":
		called := strings.Replace(entry.Command, "exec ralph-stop-hook", "exec '"+s.hook+"'", 1)
		entry.Command, entry.Args = "sh", []string{"-c", called}
	case line:
		entry.Command, entry.Args = "sh", []string{"-c", entry.Command}
	case s.hook != "":
		entry.Command = s.hook
	}
	payload["hook_event_name"], payload["cwd"], payload["permission_mode"] = event, s.dir, "default"
	payload["session_id"] = "62cd9be3-64e1-430d-adba-94dad124a5a1"
	payload["prompt_id"] = "d1e5d841-a65c-454e-a57a-887462d5c8d9"
	payload["transcript_path"] = filepath.Join(filepath.Dir(s.dir), "transcript.jsonl")
	stdin, err := json.Marshal(payload)
	s.check(err)
	if out := s.exec(stdin, entry.Command, entry.Args...); s.err == nil && len(out) > 0 {
		if err := json.Unmarshal(out, &a); err != nil {
			s.check(fmt.Errorf("%s: want one JSON object on standard output: %w: %q", event, err, out))
		}
	}
	return a
}
