//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func unchanged(b *bench) (row, error) {
	const files = 200
	r := row{Title: titleUnchanged, Text: "Whether the work tree has changed is asked of git only when the list has not. The git processes are those that the hook starts, recorded once and then started as it starts them, side by side."}
	shims := filepath.Join(b.memory, "shims")
	if err := os.MkdirAll(shims, 0o755); err != nil {
		return r, err
	}
	s, err := b.newStage(options{features: 10, limits: `"stagnation": 1000`, path: shims})
	if err != nil {
		return r, err
	}
	for n := range files {
		path := filepath.Join(s.project, fmt.Sprintf("dir%d/file%d.go", n%10, n))
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, fmt.Appendf(nil, "package dir%d\n\nconst number = %d\n", n%10, n), 0o644)
		}
		if err != nil {
			return r, err
		}
	}
	if err := s.command("git", "add", "dir*"); err != nil {
		return r, err
	}
	if err := s.command("git", "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-qm", "files"); err != nil {
		return r, err
	}
	for range 2 { // the second one finds the list as it was
		if _, err := s.run(b.hook.argv); err != nil {
			return r, err
		}
	}
	if err := s.save(); err != nil {
		return r, err
	}
	calls, err := s.record(shims, b.hook)
	if err != nil {
		return r, err
	}
	want, err := s.said()
	if err != nil {
		return r, err
	}
	git := runner{name: fmt.Sprintf("git, %d processes", len(calls)), ready: s.restore, check: func() error { return nil }}
	git.run = func() (time.Duration, error) {
		begin := time.Now()
		var running []process
		for _, call := range calls {
			p, err := s.start(call.argv, os.DevNull)
			if err != nil {
				return 0, err
			}
			running = append(running, p)
		}
		for _, p := range running {
			if _, err := p.wait(); err != nil {
				return 0, err
			}
		}
		return time.Since(begin), nil
	}
	r.Figures, err = b.race(s.quiet(b, "floor", b.floor), git, s.play(b, b.hook, want))
	if err == nil {
		r.sum(2, r.Figures[2], r.Figures[0], r.Figures[1])
	}
	return r.over(0), err
}

// call is a process that the hook has started.
type call struct{ argv []string }

// record plays a stop with a git that writes down how it was called.
func (s *stage) record(shims string, hook contestant) (calls []call, err error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	shim, log := filepath.Join(shims, "git"), filepath.Join(s.root, "calls")
	script := fmt.Sprintf("#!/bin/sh\nfor a; do printf '%%s\\0' \"$a\"; done >'%s'.$$\nexec '%s' \"$@\"\n", log, git)
	if err := os.WriteFile(shim, []byte(script), 0o755); err != nil {
		return nil, err
	}
	_, err = s.run(hook.argv)
	if gone := os.Remove(shim); err == nil {
		err = gone
	}
	if err != nil {
		return nil, err
	}
	logs, err := filepath.Glob(log + ".*")
	if err != nil || len(logs) == 0 {
		return nil, fmt.Errorf("the hook has started no git: %v", err)
	}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		args := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
		calls = append(calls, call{append([]string{git}, args...)})
	}
	return calls, nil
}
