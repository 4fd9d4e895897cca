package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// build builds a program of this checkout and returns its path. Under Wine there is no Go, and the program is on PATH.
func build(t *testing.T, dir string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		if path, err := exec.LookPath(filepath.Base(dir)); err == nil {
			return path
		}
	}
	path := filepath.Join(t.TempDir(), filepath.Base(dir))
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", path, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// fake is an agent. Its first argument names a file with its turns: a line for each session, the last one for all that
// follow. Where there are several agents, a second argument is its name. A turn has words, which it does in order:
//
//	work         claims the feature that the prompt names, in feature_list.json or the list of a review
//	claim=ID     claims that feature
//	open=ID      takes the claim back, or adds a feature
//	copy=A:B     copies the file A to B
//	write=FILE   makes a file, which says something else in each session
//	say=TEXT     prints a line; _ stands for a space
//	raw=FILE     prints a file
//	env=NAME     prints a variable
//	left=FILE    copies what the step before has left to a file
//	wait=FILE    waits until a file is there
//	sleep=D      sleeps
//	exit=N       exits
func fake(args []string) int {
	prompt, _ := io.ReadAll(os.Stdin)
	turn := nextTurn(args[0])
	name := "prompt." + strconv.Itoa(turn.n)
	if len(args) > 1 { // one of several agents
		name = args[1] + "." + name
	}
	_ = os.WriteFile(name, prompt, 0o644)
	for _, word := range strings.Fields(turn.words) {
		verb, value, _ := strings.Cut(word, "=")
		value = strings.ReplaceAll(value, "_", " ")
		switch verb {
		case "work":
			if found := regexp.MustCompile(`(?m)^  id: (.*)$`).FindSubmatch(prompt); found != nil {
				claim(string(found[1]), true)
			}
		case "claim", "open":
			claim(value, verb == "claim")
		case "copy":
			from, to, _ := strings.Cut(value, ":")
			data, _ := os.ReadFile(from)
			_ = os.WriteFile(to, data, 0o644)
		case "write":
			_ = os.WriteFile(value, fmt.Appendf(nil, "x %d\n", turn.n), 0o644)
		case "say":
			fmt.Println(value)
		case "raw":
			data, _ := os.ReadFile(value)
			_, _ = os.Stdout.Write(data)
		case "env":
			fmt.Printf("%s=%s\n", value, os.Getenv(value))
		case "left":
			data, _ := os.ReadFile(os.Getenv("RALPH_HANDOFF"))
			_ = os.WriteFile(value, data, 0o644)
		case "wait":
			for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(value); err == nil {
					break
				}
			}
		case "sleep":
			d, _ := time.ParseDuration(value)
			time.Sleep(d)
		case "exit":
			code, _ := strconv.Atoi(value)
			return code
		}
	}
	return 0
}

type turn struct {
	n     int
	words string
}

// nextTurn returns the turn of this session, and counts it in a file.
func nextTurn(path string) turn {
	data, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	counted, _ := os.ReadFile(path + ".n")
	n, _ := strconv.Atoi(strings.TrimSpace(string(counted)))
	_ = os.WriteFile(path+".n", []byte(strconv.Itoa(n+1)), 0o644)
	return turn{n + 1, lines[min(n, len(lines)-1)]}
}

// claim lets a feature pass in the list, or not pass. A feature that is not there is added.
func claim(id string, passes bool) {
	name := "feature_list.json"
	if made, _ := filepath.Glob("review-*.json"); len(made) > 0 {
		name = made[0]
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return
	}
	var list []map[string]any
	if json.Unmarshal(data, &list) != nil {
		return
	}
	i := slices.IndexFunc(list, func(item map[string]any) bool { return item["id"] == id })
	if i < 0 {
		i = len(list)
		list = append(list, map[string]any{"id": id, "title": "New"})
	}
	list[i]["passes"] = passes
	data, _ = json.MarshalIndent(list, "", "  ")
	_ = os.WriteFile("feature_list.new", append(bytes.TrimSpace(data), '\n'), 0o644)
	_ = os.Rename("feature_list.new", name) // tests kill agents at any moment
}

// jsonCommand is `json FILE PATH WANT`. FILE may be stdout; a line of a log is FILE:N, the first one 1.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH WANT")
	}
	file, number, isLine := strings.Cut(args[0], ":")
	text := ts.ReadFile(file)
	if isLine {
		n, err := strconv.Atoi(number)
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if err != nil || n < 1 || n > len(lines) {
			ts.Fatalf("%s has %d lines", file, len(lines))
		}
		text = lines[n-1]
	}
	if got := gjson.Get(text, args[1]).String(); (got == args[2]) == neg {
		ts.Fatalf("%s: %s is %q, want %q", args[0], args[1], got, args[2])
	}
}

// exitsCommand is `exits STATUS PROGRAM ARG...`: it runs a program, which must end with that exit status.
func exitsCommand(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ends with %d, want %d", args[1], got, want)
	}
}

// awaitCommand is `await FILE`: it waits until the file is there.
func awaitCommand(ts *testscript.TestScript, _ bool, args []string) {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("there is no %s after 30 s", args[0])
}

// countCommand is `count FILE N`: the file has so many lines.
func countCommand(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); got != want {
		ts.Fatalf("%s has %d lines, want %d", args[0], got, want)
	}
}

// within returns the command lines of the processes that work in a folder, as Linux tells them.
func within(dir string) (lines []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at+"/", dir+"/") {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
			lines = append(lines, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return lines
}

// nobodyCommand is `nobody`: no process works in the script's folder, or will in a moment.
func nobodyCommand(ts *testscript.TestScript, neg bool, _ []string) {
	dir := ts.Getenv("WORK")
	for end := time.Now().Add(5 * time.Second); (len(within(dir)) > 0) != neg; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("these processes work there: %q", within(dir))
		}
	}
}

// aliveCommand is `alive FILE`: the process whose id is in the file runs. `! alive FILE` waits until it has ended.
func aliveCommand(ts *testscript.TestScript, neg bool, args []string) {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	if err != nil {
		ts.Fatalf("%v", err)
	}
	for end := time.Now().Add(10 * time.Second); proc.Alive(pid, "") == neg; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("process %d: alive is %v", pid, neg)
		}
	}
}
