// Demo shows the hook at work without Claude Code: in a temporary project it
// makes a loop with the real ralph-stop-hook and a check, plays a scripted agent whose
// stops the hook answers, and prints what a person would want to see. With
// -runner it shows ralph-runner, which starts the scripted agent itself.
//
//	go run ./examples/demo
//	go run ./examples/demo -runner
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	earlyTurn = 3  // the agent claims a feature in it that it has not done
	maxStops  = 20 // more than the loop may have

	bold, dim, green, cyan = "1", "2", "32", "36"
)

type feature struct{ id, title string }

var features = []feature{
	{"cart-total", "the cart shows its total with tax"},
	{"shipping-cost", "shipping depends on the country"},
	{"discount-code", "a discount code counts once"},
	{"declined-card", "a declined card keeps the cart"},
	{"order-mail", "the order is confirmed by mail"},
}

func (f feature) json(passes bool) string {
	return fmt.Sprintf(`{"id": %q, "title": %q, "passes": %t}`, f.id, f.title, passes)
}

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "demo: error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if isAgent(os.Args[0]) {
		return playAgent()
	}
	s := &stage{}
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.BoolVar(&s.color, "color", isTerminal() && os.Getenv("NO_COLOR") == "", "show colours")
	runner := flags.Bool("runner", false, "show ralph-runner instead of the hook")
	flags.StringVar(&s.hook, "hook", "",
		"have the program at this absolute `path` do what is shown, to see the demo fail")
	flags.StringVar(&s.bin, "bin", "", "use the programs in this `folder` and build none")
	proof := flags.String("check", "", "check the feature of this `id` and do nothing else; the demo's check")
	store := flags.String("store", "", "append standard input to this `file` and do nothing else; the demo's "+
		"on-complete command")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *store != "":
		return appendInput(*store)
	case *proof != "":
		return check(*proof)
	}
	temp, err := os.MkdirTemp("", "ralph-demo-")
	if err != nil {
		return err
	}
	// One that reads only the first lines must not leave files behind: then a
	// write fails. (A hook that does not read its input is no end of the demo.)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if *runner {
		s.showRunner(temp)
	} else {
		s.showHook(temp)
	}
	s.check(os.RemoveAll(temp))
	return s.err
}

func isTerminal() bool {
	info, err := os.Stdout.Stat()
	// An older Windows console would show the escapes themselves.
	return err == nil && info.Mode()&os.ModeCharDevice != 0 &&
		(runtime.GOOS != "windows" || os.Getenv("WT_SESSION") != "")
}

func appendInput(name string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, os.Stdin)
	return errors.Join(err, f.Close())
}

func (s *stage) showHook(temp string) {
	s.build(temp, "", "./cmd/ralph-stop-hook")
	s.init()
	s.sumUp(s.play())
}

// play is the session: turns of the agent with a stop at the end of each,
// until the hook lets one be the last. It returns their number.
func (s *stage) play() int {
	s.call("UserPromptSubmit", map[string]any{"prompt": s.read(loopDir + "RALPH_PROMPT.md")})
	s.printf("%s\n\n", s.paint(dim, "A scripted agent works in Claude's place. Each time it stops, the hook answers:"))
	next := features[0]
	for n := 1; n <= maxStops && s.err == nil; n++ {
		did := "marks " + next.id + " as passing: " + next.title
		if n == earlyTurn {
			did = "marks " + next.id + " as passing before it is done"
		}
		s.work(next, n != earlyTurn)
		a := s.call("Stop", map[string]any{
			"stop_hook_active": n > 1, "last_assistant_message": did, "effort": map[string]any{"level": "medium"},
			"background_tasks": []any{}, "session_crons": []any{},
		})
		goesOn := a.prompt() != ""
		verdict := s.paint(green, "end     ")
		if goesOn {
			verdict = s.paint(cyan, "continue")
		}
		s.printf("stop %d  %s  %s\n        %s  %s\n", n, s.paint(dim, "agent   "), did, verdict, a.SystemMessage)
		if !goesOn {
			return n
		}
		before := next
		next = named(a.prompt())
		if (next == before) != (n == earlyTurn) {
			s.check(fmt.Errorf("stop %d: after %q the hook's prompt names %q", n, before.id, next.id))
		}
	}
	s.check(fmt.Errorf("the hook still blocks at stop %d", maxStops))
	return maxStops
}

// work is what the agent does in a turn, as far as the hook and the check can see it.
func (s *stage) work(f feature, does bool) {
	if does {
		s.write(done(f.id), f.title+"\n")
	}
	s.write(listFile, strings.Replace(s.read(listFile), f.json(false), f.json(true), 1))
	s.write(progressFile, s.read(progressFile)+"- "+f.id+" is done\n")
}

// named returns the feature that a prompt of the hook names.
func named(prompt string) feature {
	for _, f := range features {
		if strings.Contains(prompt, f.id) {
			return f
		}
	}
	return feature{}
}

// sumUp shows what the loop leaves behind, and checks it.
func (s *stage) sumUp(stops int) {
	lines := strings.SplitN(s.read(progressFile), "\n", 9)
	if lines[0] != "Status: COMPLETE" {
		s.check(fmt.Errorf("stop %d was allowed, but progress.txt begins with %q; 'go test ./...' may tell why",
			stops, lines[0]))
	}
	var p struct {
		Status, ExitReason, EpicID          string
		ExitCode, Iterations, MaxIterations int
		Features                            struct{ Total, Proven int }
	}
	notices := 0
	for d := json.NewDecoder(strings.NewReader(s.read(noticesFile))); s.err == nil && d.More(); notices++ {
		s.check(d.Decode(&p))
	}
	if notices != 1 || p.Status != "completed" || p.Features.Proven != len(features) {
		s.check(fmt.Errorf("the on-complete command was called %d times, the last time with %+v; 'go test ./...' may tell "+
			"why", notices, p))
	}
	s.printf("\n%s\n", s.paint(bold, progressFile))
	for _, line := range lines[:len(lines)-1] {
		s.printf("%s\n", strings.TrimRight("  "+line, " "))
	}
	s.printf("  …\n")
	s.printf("\n%s\n", s.paint(bold, "what the on-complete command was told"))
	s.printf("  loop      %s: %s, %s, exit code %d\n", p.EpicID, p.Status, p.ExitReason, p.ExitCode)
	s.printf("  features  %d of %d proven, in %d of %d iterations\n", p.Features.Proven, p.Features.Total, p.Iterations,
		p.MaxIterations)
	sum := fmt.Sprintf("%d of %d features proven, %d stops, %d notice.", p.Features.Proven, p.Features.Total, stops,
		notices)
	s.printf("\n%s\n", s.paint(bold, sum))
}
