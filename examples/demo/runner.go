package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// showRunner lets ralph-runner work the list with fresh sessions, and then delegate one task.
func (s *stage) showRunner(temp string) {
	file, notify := notifier()
	test := strings.Replace(notify, "-store "+noticesFile, "-check %s", 1)
	s.build(temp, fmt.Sprintf(`"verify": %q`, test), "./cmd/ralph-stop-hook", "./cmd/ralph-runner")
	s.copySelf(s.dir, file)
	s.copySelf(s.agents, strings.Replace(file, "notify", "claude", 1))
	s.printf("%s\n\n", s.paint(dim, "A scripted agent is on PATH in the place of claude. Its costs are made up.\n"+
		"Each feature of the list brings a check of its own."))
	s.show("ralph-stop-hook", "init", "checkout", "--settings", "none", "--on-complete", notify)
	s.trust()
	s.show("ralph-runner", "--permission-mode", "acceptEdits", "--allowed-tools", "Bash(./notify:*)")
	s.checkRun()
	s.show("ralph-runner", "delegate", "--task", "Write the release note", "--on-complete", notify)
	s.checkNotices()
}

// trust accepts the checks of the list, and shows the last line of what that prints: the others name temporary folders.
func (s *stage) trust() {
	lines := strings.Split(strings.TrimSpace(string(s.exec(nil, "ralph-stop-hook", "trust", "--yes"))), "\n")
	s.printf("%s\n…\n%s\n\n", s.paint(bold, "$ ralph-stop-hook trust --yes"), lines[len(lines)-1])
}

// show runs a program in the project, with its command line above what it prints.
func (s *stage) show(name string, args ...string) {
	line := "$ " + name
	for _, arg := range args {
		if strings.Contains(arg, " ") {
			arg = "'" + arg + "'"
		}
		line += " " + arg
	}
	s.printf("%s\n", s.paint(bold, line))
	if s.err != nil {
		return
	}
	if s.hook != "" && name == "ralph-runner" {
		name = s.hook
	}
	cmd := exec.CommandContext(s.ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		s.check(fmt.Errorf("%s: %w", line[2:], err))
	}
	s.printf("\n")
}

// checkRun checks that all features are proven, and that the early one needed two sessions.
func (s *stage) checkRun() {
	var status struct {
		Status   string
		Features struct{ Proven int }
	}
	out := s.exec(nil, "ralph-stop-hook", "status", "--json")
	if s.err == nil {
		s.check(json.Unmarshal(out, &status))
	}
	if status.Status != "COMPLETE" || status.Features.Proven != len(features) {
		s.check(fmt.Errorf("the run has left the loop %s with %d proven features; 'go test ./...' may tell why",
			status.Status, status.Features.Proven))
	}
	sessions := map[string]int{}
	lines := json.NewDecoder(strings.NewReader(s.read(filepath.Join(".agent-state", "iterations.jsonl"))))
	for s.err == nil && lines.More() {
		var line struct{ Feature string }
		s.check(lines.Decode(&line))
		sessions[line.Feature]++
	}
	for _, f := range features {
		want := 1
		if f.id == early {
			want = 2
		}
		if sessions[f.id] != want {
			s.check(fmt.Errorf("%s took %d sessions, want %d", f.id, sessions[f.id], want))
		}
	}
}

// checkNotices shows what the on-complete commands were told: of the loop, and of the delegated task.
func (s *stage) checkNotices() {
	var told []map[string]any
	notices := json.NewDecoder(strings.NewReader(s.read(noticesFile)))
	for s.err == nil {
		var notice map[string]any
		err := notices.Decode(&notice)
		if err == io.EOF {
			break
		}
		s.check(err)
		told = append(told, notice)
	}
	if s.err == nil && (len(told) != 2 || told[0]["status"] != "completed" || told[1]["status"] != "completed") {
		s.check(fmt.Errorf("the on-complete commands were told %v", told))
	}
	if s.err != nil {
		return
	}
	s.printf("%s\n", s.paint(bold, "what the on-complete commands were told"))
	s.printf("  loop  %v: %v, %v\n", told[0]["epicId"], told[0]["status"], told[0]["exitReason"])
	s.printf("  task  %v: %v, exit code %v\n", told[1]["task"], told[1]["status"], told[1]["exitCode"])
	s.printf("\n%s\n", s.paint(bold, fmt.Sprintf("%d of %d features, %d sessions, 1 delegated task.", len(features),
		len(features), len(features)+1)))
}
