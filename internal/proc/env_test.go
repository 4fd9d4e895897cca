package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestValue(t *testing.T) {
	env := []string{"A=1", "broken", "B=x=y", "A=2", "C="}
	for name, want := range map[string]string{"A": "2", "B": "x=y", "C": "", "D": "", "broken": ""} {
		if got := Value(env, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestMoved has variables lead to another folder, except for places of the system.
func TestMoved(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "shop"), filepath.Join(t.TempDir(), "copy")
	path := func(dirs ...string) string { return strings.Join(dirs, string(os.PathListSeparator)) }
	in := func(top string) []string {
		src := filepath.Join(top, "src")
		return []string{"HOME=" + from, "TOP=" + top, "PYTHONPATH=" + path("/x", src, "", top), "OTHER=" + from + "2",
			"TEXT=in " + top + ", " + top, "PERL5OPT=-I" + src + " -I" + top, "NODE_OPTIONS=--require=" + src,
			"FAR=/x" + from + "/y"}
	}
	if got, want := MoveEnv(in(from), from, to), in(to); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLookPath finds a program in a PATH that is not this process's.
func TestLookPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("what can be executed is told by the name's extension here")
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"one/tool": 0o755, "two/tool": 0o755, "two/text": 0o644} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	path := func(dirs ...string) string { return strings.Join(dirs, string(os.PathListSeparator)) }
	t.Chdir(one) // a folder that is not absolute is passed over, also the one that a person is in
	for _, tc := range []struct{ name, path, want string }{
		{"tool", path(one, two), filepath.Join(one, "tool")},
		{"tool", path(two, one), filepath.Join(two, "tool")},
		{"tool", path("", ".", two), filepath.Join(two, "tool")},
		{"tool", path("", "."), ""},
		{"tool", "", ""},
		{"text", two, ""},
		{filepath.Join(two, "tool"), "", filepath.Join(two, "tool")},
	} {
		got, err := LookPath(tc.name, tc.path)
		if tc.want == "" {
			if !errors.Is(err, exec.ErrNotFound) {
				t.Errorf("%s in %q: %s, %v; want none", tc.name, tc.path, got, err)
			}
			continue
		}
		if err != nil || got != tc.want {
			t.Errorf("%s in %q: %s, %v; want %s", tc.name, tc.path, got, err, tc.want)
		}
	}
	r := Run(t.Context(), Cmd{Argv: []string{"tool"}, Env: []string{"PATH=" + two}, Timeout: gitTimeout, Output: 1000})
	if r.Err != nil {
		t.Errorf("a program in the PATH of its environment: %v, %s", r.Err, r.Output)
	}
	r = Run(t.Context(), Cmd{Argv: []string{"sh", "-c", "exit"}, Env: []string{"PATH=" + two}, Timeout: gitTimeout})
	if r.Err == nil {
		t.Error("a program that only this process's PATH finds was run")
	}
}
