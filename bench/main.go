//go:build linux

// Bench measures the hook as Claude Code waits for it: whole processes, from start to end. Beside the hook it runs a
// Go program that only reads its input (the floor), and the same hook in bash with jq and for Node (the rivals). It
// measures runs of ralph-runner beside the agent alone and beside loops in bash. It writes
// docs/assurance/BENCHMARKS.md and docs/assurance/bench.svg.
//
//	go run ./bench           measures everything, in half an hour or so
//	go run ./bench -quick    runs every row a few times and writes nothing
//	go run ./bench -copy     measures only the clean copy, and prints its parts of the document
//
// All hooks must give the same answer before anything is timed, and again in every timed run. Bench fails when they
// do not. It never fails because something is slow.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// temporary are the folders that exit removes.
var temporary []string

// exit ends the process, with status 1 and a message if there is an error.
func exit(err error) {
	for _, dir := range temporary {
		os.RemoveAll(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func check(err error) {
	if err != nil {
		exit(err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

// program is a name for the report and a command line. The first word of the command line is an absolute path.
type program struct {
	name string
	argv []string
}

// bench is what every row needs.
type bench struct {
	quick        bool
	copyOnly     bool
	budget       time.Duration // how long one comparison may take
	noise        float64       // percent by which the medians of the same hook, measured twice, differ
	memory, disk string        // absolute paths of two temporary folders: one in memory, one on disk

	floor, launch    program
	hook, bash, node program
	runner           program
	loop             string // path of the outer loop in bash with jq
	agent            string // path of the agent that takes no time
}

// fewer returns many, or few in a quick run.
func (b *bench) fewer(many, few int) int {
	if b.quick {
		return few
	}
	return many
}

func main() {
	b := &bench{}
	flag.BoolVar(&b.quick, "quick", false, "run every row a few times, to see that it works, and write nothing")
	flag.BoolVar(&b.copyOnly, "copy", false, "measure only the clean copy, and print its parts of the document")
	flag.DurationVar(&b.budget, "budget", 6*time.Second, "how `long` one comparison may take")
	flag.Parse()
	if b.quick {
		b.budget = 0
	}
	top := must(exec.Command("git", "rev-parse", "--show-toplevel").Output())
	check(os.Chdir(strings.TrimSpace(string(top))))
	check(os.MkdirAll("bin", 0o755))
	b.memory = must(os.MkdirTemp("/dev/shm", "ralph-bench-"))
	b.disk = must(filepath.Abs(must(os.MkdirTemp("bin", "ralph-bench-"))))
	temporary = []string{b.memory, b.disk}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() { exit(fmt.Errorf("%v", <-interrupted)) }()
	b.build()
	b.controls()
	b.runControls()
	b.copyControls()
	r := b.measure()
	switch {
	case b.copyOnly:
		must(os.Stdout.Write(must(r.text())))
	case !b.quick:
		check(os.WriteFile("docs/assurance/BENCHMARKS.md", must(r.text()), 0o644))
		picture, err := drawn(r.Growths)
		check(err)
		check(os.WriteFile("docs/assurance/bench.svg", picture, 0o644))
	}
	exit(nil)
}

// build builds the programs, and copies them and the rivals into memory: the measurement does not change when
// somebody edits the originals meanwhile.
func (b *bench) build() {
	in := func(name string) string { return filepath.Join(b.memory, name) }
	command("make", "-s", "build")
	for _, name := range []string{"floor", "launch", "agent"} {
		command("go", "build", "-ldflags", "-s -w", "-o", in(name), "./bench/"+name)
	}
	command("cp", "bin/ralph-stop-hook", "bin/ralph-runner", "bench/rivals/hook.sh", "bench/rivals/hook.mjs",
		"bench/rivals/loop.sh", b.memory)
	b.floor = program{"floor", []string{in("floor")}}
	b.launch = program{"launch", []string{in("launch")}}
	b.hook = program{"ralph-stop-hook", []string{in("ralph-stop-hook"), "hook", "--timeout", "660s"}}
	b.runner = program{"ralph-runner", []string{in("ralph-runner")}}
	b.agent = in("agent")
	b.loop = in("loop.sh")
	b.bash = program{"bash + jq", []string{must(exec.LookPath("bash")), in("hook.sh")}}
	b.node = program{"Node", []string{must(exec.LookPath("node")), in("hook.mjs")}}
}

// command runs a program that must succeed.
func command(argv ...string) {
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		check(fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out))
	}
}

// measure measures every row and every chart. It prints the title of each when it is done.
func (b *bench) measure() report {
	begin := time.Now()
	r := report{Machine: b.machine(), Date: begin.UTC().Format(time.DateOnly)}
	rows, growths := rows, growths
	if b.copyOnly {
		rows, growths = copies, nil
	}
	for i, measure := range rows {
		row := measure(b)
		if b.copyOnly && i == 0 {
			system := slices.Concat(r.Machine[:2], r.Machine[6:]) // without the rivals' programs
			row.Text += fmt.Sprintf(" All rows of the copy were measured separately, on %s, with: %s.", r.Date,
				strings.Join(system, "; "))
		}
		r.Rows = append(r.Rows, row)
		fmt.Println(row.Title)
		for _, bar := range row.Bars {
			if !b.quick { // a quick run has shorter lists and few runs
				fmt.Printf("  %s: %s, %s\n", bar.Want, bar.Got, bar.Word())
			}
		}
	}
	for _, measure := range growths {
		g := measure(b)
		r.Growths = append(r.Growths, g)
		fmt.Println(g.Title)
	}
	r.Noise, r.Took = b.noise, time.Since(begin).Round(time.Second)
	return r
}
