//go:build linux

// Bench measures whole processes of the hook, from their start to their end, in
// runs that are interleaved with those of others: of a Go program that only
// reads its input (the floor), and of the same hook in bash with jq and for
// Node. It writes docs/BENCHMARKS.md and docs/bench.svg.
//
//	go run ./bench           all of it, in some minutes
//	go run ./bench -quick    every row in a few runs, and writes nothing
//
// Before anything is timed, all of them must give the same answer, and so must
// every run that is. It fails where they do not; it never fails for being slow.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		os.Exit(1)
	}
}

// bench is what all rows need.
type bench struct {
	quick  bool
	budget time.Duration // of one comparison
	memory string        // a folder in memory
	disk   string        // one that is not
	floor  string        // absolute paths of programs
	launch string
	hook   contestant
	bash   contestant
	node   contestant

	climbed []runner // iterations of a long loop
}

// fewer returns many, or few where only a look is wanted.
func (b *bench) fewer(many, few int) int {
	if b.quick {
		return few
	}
	return many
}

// contestant is a hook: a name, and what runs it.
type contestant struct {
	name string
	argv []string // the first one absolute
}

func run(args []string) (err error) {
	b := &bench{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&b.quick, "quick", false, "run each row a few times, to see that it runs, and write nothing")
	flags.DurationVar(&b.budget, "budget", 6*time.Second, "how `long` one comparison may take")
	if err := flags.Parse(args); err != nil {
		return err
	}
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err == nil {
		err = os.Chdir(strings.TrimSpace(string(top)))
	}
	if err != nil {
		return fmt.Errorf("not in a clone of the repository: %w", err)
	}
	if b.quick {
		b.budget = 0
	}
	clean, err := b.prepare()
	defer clean()
	if err != nil {
		return err
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		clean()
		os.Exit(1)
	}()
	begin := time.Now()
	r := report{Machine: machine(b.disk), Date: begin.UTC().Format(time.DateOnly)}
	if err := b.controls(); err != nil {
		return err
	}
	for _, measure := range rows {
		row, err := measure(b)
		if err != nil {
			return fmt.Errorf("%s: %w", row.Title, err)
		}
		r.Rows = append(r.Rows, row)
		if b.quick { // few runs, of smaller lists: no figures to look at
			fmt.Println(row.Title)
		} else {
			fmt.Print(row.short())
		}
	}
	for _, measure := range growths {
		g, err := measure(b)
		if err != nil {
			return fmt.Errorf("%s: %w", g.Title, err)
		}
		r.Growths = append(r.Growths, g)
		fmt.Println(g.Title)
	}
	r.Took = time.Since(begin).Round(time.Second)
	text, chart, err := r.text(), chart(r.Growths), error(nil)
	if b.quick {
		fmt.Printf("every row ran, in %v; all hooks agreed; nothing was written\n", r.Took)
		return nil
	}
	if err = os.WriteFile("docs/BENCHMARKS.md", text, 0o644); err == nil {
		err = os.WriteFile("docs/bench.svg", chart, 0o644)
	}
	return err
}

// prepare builds the programs and makes the folders; clean removes them.
func (b *bench) prepare() (clean func(), err error) {
	var made []string
	clean = func() {
		for _, dir := range made {
			_ = os.RemoveAll(dir)
		}
	}
	if err := command("make", "-s", "build"); err != nil {
		return clean, err
	}
	for _, folder := range []struct {
		path *string
		in   string
	}{{&b.memory, "/dev/shm"}, {&b.disk, "bin"}} {
		if *folder.path, err = os.MkdirTemp(folder.in, "ralph-bench-"); err != nil {
			return clean, err
		}
		made = append(made, *folder.path)
		if *folder.path, err = filepath.Abs(*folder.path); err != nil {
			return clean, err
		}
	}
	b.floor, b.launch = filepath.Join(b.memory, "floor"), filepath.Join(b.memory, "launch")
	for _, program := range []string{b.floor, b.launch} {
		if err := command("go", "build", "-ldflags", "-s -w", "-o", program, "./bench/"+filepath.Base(program)); err != nil {
			return clean, err
		}
	}
	// From copies, whatever becomes of the originals meanwhile.
	for _, file := range []string{"bin/ralph-stop-hook", "bench/rivals/hook.sh", "bench/rivals/hook.mjs"} {
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(b.memory, filepath.Base(file)), data, 0o755)
		}
		if err != nil {
			return clean, err
		}
	}
	tools := map[string]string{}
	for _, tool := range []string{"bash", "node", "jq", "grep", "git"} {
		if tools[tool], err = exec.LookPath(tool); err != nil {
			return clean, err
		}
	}
	b.hook = contestant{"ralph-stop-hook", []string{filepath.Join(b.memory, "ralph-stop-hook"), "hook", "--timeout", "660s"}}
	b.bash = contestant{"bash + jq", []string{tools["bash"], filepath.Join(b.memory, "hook.sh")}}
	b.node = contestant{"Node", []string{tools["node"], filepath.Join(b.memory, "hook.mjs")}}
	return clean, nil
}

// command runs a program that has to succeed.
func command(argv ...string) error {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}
