//go:build linux

// Agent stands in for an agent in the tests of runs: it does one feature a session, and prints what Claude Code prints.
// It keeps a diary: a line for each session that it began, and the file "two" if it ever met itself at work in one
// folder.
//
//	agent DIARY work      does the feature that the prompt names
//	agent DIARY "takes its time"  does that after a moment
//	agent DIARY plan      makes the file PLAN
//	agent DIARY review    says that all is complete
//	agent DIARY MOOD      misbehaves in its first session, as the table moods says, and works in those after it
//	agent DIARY chance N  misbehaves now and then, as the seed N has it
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	diary, mood := os.Args[1], os.Args[2]
	lock, n, err := begin(diary)
	if err == nil {
		err = behave(mood, n)
		lock.Close() // it is held for as long as the session works
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent: error:", err)
		os.Exit(1)
	}
}

// begin notes the session in the diary, and returns its number, the first one 1. Who meets another session in the same
// folder notes that, too.
func begin(diary string) (lock *os.File, n int, err error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, 0, err
	}
	lock, err = os.Create(filepath.Join(diary, "at"+strings.ReplaceAll(cwd, "/", "-")))
	if err != nil {
		return nil, 0, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, 0, errors.Join(err, os.WriteFile(filepath.Join(diary, "two"), nil, 0o644))
	}
	sessions, err := os.OpenFile(filepath.Join(diary, "agent"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, 0, err
	}
	defer sessions.Close()
	fmt.Fprintln(sessions, os.Getpid())
	text, err := os.ReadFile(sessions.Name())
	return lock, bytes.Count(text, []byte("\n")), err
}

func behave(mood string, session int) error {
	switch mood {
	case "work":
		return work()
	case "takes its time":
		time.Sleep(400 * time.Millisecond)
		return work()
	case "plan":
		if err := os.WriteFile("PLAN", []byte("x\n"), 0o644); err != nil {
			return err
		}
		return say("Done.")
	case "review":
		return say(`Good.\n<promise>COMPLETE</promise>`)
	case "chance":
		return chance(os.Args[3], session)
	}
	bad, is := moods[mood]
	if !is {
		return fmt.Errorf("there is no mood %q", mood)
	}
	if session > 1 {
		return work()
	}
	return bad()
}

// moods are what an agent does to the run that starts it.
var moods = map[string]func() error{
	"dies at once":        die,
	"dies after its work": func() error { return after(pass(), die) },
	"dies in a line": func() error {
		_, err := os.Stdout.WriteString(`{"type":"assis`)
		return after(err, die)
	},
	"hangs": hang,
	"is deaf": func() error {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		return hang()
	},
	"hangs at last": func() error { return after(work(), hang) },
	"shuts its output and hangs": func() error {
		os.Stdout.Close()
		os.Stderr.Close()
		return hang()
	},
	"floods":          func() error { return after(flood(os.Stdout), work) },
	"floods its log":  func() error { return after(flood(os.Stderr), work) },
	"speaks in bytes": func() error { return after(noise(), work) },
	"leaves children": func() error { return after(leave("sleep 1000 & sleep 1000 & sleep 1000"), work) },
	"leaves daemons":  func() error { return after(leave("setsid sleep 1000 & setsid setsid sleep 1000"), work) },
	"leaves a crowd":  func() error { return after(leave("for i in $(seq 60); do sleep 1000 & done; wait"), work) },
	"leaves what floods": func() error {
		return after(leave("setsid sh -c 'while :; do echo x; sleep 0.01; done'"), work)
	},
	"kills its guard": func() error {
		if err := syscall.Kill(os.Getppid(), syscall.SIGKILL); err != nil {
			return err
		}
		return hang()
	},
	"fails":           func() error { os.Exit(3); return nil },
	"says nothing":    func() error { return nil },
	"meets its limit": limited,
}

// hang outlives every test.
func hang() error { time.Sleep(time.Hour); return nil }

func die() error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) }

// after does what comes next if nothing failed before.
func after(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

// flood writes 64 MB, of which half are one line.
func flood(to io.Writer) error {
	for n := range 64 {
		text := bytes.Repeat([]byte("x"), 1<<20)
		if n < 32 {
			text[len(text)-1] = '\n'
		}
		if _, err := to.Write(text); err != nil {
			return err
		}
	}
	_, err := to.Write([]byte("\n"))
	return err
}

// noise writes bytes of all kinds, and what a terminal obeys.
func noise() error {
	text := make([]byte, 1<<16)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(text)
	_, err := os.Stdout.Write(append(text, "\x1b[2J\x1b]0;x\a{\"type\":\"result\"\n"...))
	return err
}

// leave starts a line of the shell that outlives the agent, and holds its output.
func leave(line string) error {
	cmd := exec.Command("sh", "-c", line)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	time.Sleep(50 * time.Millisecond) // its children are there
	return nil
}

// chance does the work in most sessions. It is the same for the same seed and session.
func chance(seed string, session int) error {
	n, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return err
	}
	now := []string{"dies at once", "dies after its work", "dies in a line", "speaks in bytes", "leaves children",
		"leaves daemons", "fails", "says nothing", "meets its limit"}
	r := rand.New(rand.NewPCG(n, uint64(session)))
	if mood := r.IntN(6 * len(now)); mood < len(now) {
		return moods[now[mood]]()
	}
	return work()
}

func work() error { return after(pass(), func() error { return say("Done.") }) }

// say prints the end of a session. Its costs can be added without rounding.
func say(text string) error {
	_, err := fmt.Printf(`{"type":"system","subtype":"init","session_id":"s","model":"m"}
{"type":"result","subtype":"success","is_error":false,"result":"%s","total_cost_usd":0.25,`+
		`"modelUsage":{"m":{"inputTokens":7,"outputTokens":3}}}
`, text)
	return err
}

// limited says what Claude Code says when a provider's limit is used up, and fails as it does.
func limited() error {
	defer os.Exit(1)
	_, err := fmt.Println(`{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error",` +
		`"api_error_status":429,"result":"You have hit your limit","total_cost_usd":0,"modelUsage":{}}`)
	return err
}

var named = regexp.MustCompile(`(?m)^  id: (.*)$`)

// pass lets the feature that the prompt names pass. The list is the old or the new one, whenever the agent is killed.
func pass() error {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	found := named.FindSubmatch(prompt)
	if found == nil {
		return nil
	}
	text, err := os.ReadFile("feature_list.json")
	if err != nil {
		return err
	}
	if info, err := os.Lstat(".git"); err == nil && !info.IsDir() { // a lane, whose work is merged
		if err := os.WriteFile(string(found[1])+".txt", []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
			return err
		}
	}
	item := regexp.MustCompile(`("id": ?"` + regexp.QuoteMeta(string(found[1])) + `".*?"passes": ?)false`)
	if err := os.WriteFile("feature_list.new", item.ReplaceAll(text, []byte("${1}true")), 0o644); err != nil {
		return err
	}
	return os.Rename("feature_list.new", "feature_list.json")
}
