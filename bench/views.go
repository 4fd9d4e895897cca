//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// workEvery is how often a loop at work has a stop. Each iteration of an agent takes longer.
	workEvery = 5 * time.Second
	// tick is the unit of the times in /proc/PID/stat: USER_HZ is 100 on all of Go's systems.
	tick = 10 * time.Millisecond
)

// views measures a look at many loops, and what it costs to keep looking.
func views(b *bench) row {
	loops, busy := b.fewer(200, 4), b.fewer(20, 2)
	c := b.newCrowd(loops)
	title := fmt.Sprintf("A look at %d loops, of which %d are at work, in memory", loops, busy)
	r := row{Title: title, Figures: []figure{
		b.looks("watch, until its first line", func() time.Duration { return c.watched(b) }),
		b.looks("serve, until its first page", func() time.Duration {
			s := c.serve(b)
			defer s.end()
			return s.opened
		}),
	}}
	share := c.followed(b, busy)
	r.Text = fmt.Sprintf("Each project has one loop of ten features. The page is open in a program that does what a "+
		"browser does: it waits for changes, and gets the page again. Each loop at work has a stop every %d seconds. "+
		"serve then takes %.2f %% of one core.", workEvery/time.Second, share)
	const most = 100 * time.Millisecond
	for _, f := range r.Figures {
		r.Bars = append(r.Bars, bar{"first picture ≤ 100 ms: " + f.Name, ms(f.Median), f.Median <= most,
			"Each loop has a record, a list and a header of its own, and all are read."})
	}
	r.Bars = append(r.Bars, bar{"≤ 2 % of one core", fmt.Sprintf("%.2f %%", share), share <= 2,
		"Each change is seen at once, and the page is written anew for all loops."})
	return r
}

// looks measures a call again and again. The first one does not count.
func (b *bench) looks(name string, once func() time.Duration) figure {
	once()
	var took []time.Duration
	for begin := time.Now(); len(took) < b.fewer(minRuns, 1) || time.Since(begin) < b.budget/2; {
		took = append(took, once())
	}
	slices.Sort(took)
	return figure{Name: name, Runs: len(took), Median: quantile(took, 0.5), P95: quantile(took, 0.95)}
}

// crowd is a user with many loops, each with a project and a session of its own.
type crowd struct {
	base   *stage
	stages []*stage
}

func (b *bench) newCrowd(n int) crowd {
	c := crowd{base: b.newStage(options{})}
	for i := range n {
		s := *c.base
		s.features, s.project = 10, filepath.Join(c.base.root, fmt.Sprint("p", i))
		s.loop = filepath.Join(s.project, ".claude/data/ralph-loops", loopName)
		s.event = filepath.Join(c.base.root, fmt.Sprintf("event-%d.json", i))
		s.answer, s.trouble = s.event+".out", s.event+".err"
		s.env = append(slices.Clone(s.env), "CLAUDE_PROJECT_DIR="+s.project)
		check(os.MkdirAll(s.loop, 0o755))
		s.writeList(false)
		s.command(b.hook.argv[0], "init", loopName, "--settings", "none", "--max-iterations", strconv.Itoa(maxLoop))
		session := map[string]any{"session_id": fmt.Sprint("session-", i)}
		prompt := map[string]any{"prompt": string(must(os.ReadFile(filepath.Join(s.loop, "RALPH_PROMPT.md"))))}
		maps.Copy(prompt, session)
		s.payload("user-prompt-submit.json", prompt)
		must(play(b.hook.argv, &s))
		s.payload("stop.active.json", session)
		c.stages = append(c.stages, &s)
	}
	return c
}

// all is what a first picture must show: every loop.
func (c crowd) all(text string) error {
	if n := strings.Count(text, "of 10"); n < len(c.stages) {
		return fmt.Errorf("%w: %d loops are shown, of %d:\n%s", errDiffers, n, len(c.stages), text)
	}
	return nil
}

// start starts ralph-runner, and returns its output.
func (c crowd) start(b *bench, args ...string) (*exec.Cmd, *bufio.Reader) {
	cmd := exec.Command(b.runner.argv[0], args...)
	cmd.Dir, cmd.Env, cmd.Stderr = c.base.project, c.base.env, os.Stderr
	out := must(cmd.StdoutPipe())
	check(cmd.Start())
	return cmd, bufio.NewReader(out)
}

// watched starts watch, and returns how long it takes until it has printed all loops.
func (c crowd) watched(b *bench) time.Duration {
	begin := time.Now()
	cmd, out := c.start(b, "watch", "--lines")
	text := ""
	for range c.stages {
		text += must(out.ReadString('\n'))
	}
	took := time.Since(begin)
	check(c.all(text))
	end(cmd)
	return took
}

func end(cmd *exec.Cmd) {
	check(cmd.Process.Signal(syscall.SIGTERM))
	_ = cmd.Wait() // a signal is not success
}

// served is a running page.
type served struct {
	*exec.Cmd
	client  *http.Client
	address string
	opened  time.Duration // from the start until the page was there
}

func (s served) end() { end(s.Cmd) }

func (c crowd) serve(b *bench) served {
	begin := time.Now()
	cmd, out := c.start(b, "serve")
	s := served{Cmd: cmd, client: &http.Client{Jar: must(cookiejar.New(nil))}}
	s.address = strings.TrimSpace(must(out.ReadString('\n')))
	page := s.get(context.Background(), s.address)
	s.opened = time.Since(begin)
	check(c.all(page))
	s.address, _, _ = strings.Cut(s.address, "?")
	return s
}

func (s served) get(ctx context.Context, address string) string {
	answer := must(s.client.Do(must(http.NewRequestWithContext(ctx, http.MethodGet, address, nil))))
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		check(fmt.Errorf("%w: %s answers %s", errDiffers, address, answer.Status))
	}
	return string(must(io.ReadAll(answer.Body)))
}

// followed returns how many percent of a core serve takes while the loops work and a browser follows them.
func (c crowd) followed(b *bench, busy int) (percent float64) {
	s := c.serve(b)
	defer s.end()
	ctx, stop := context.WithTimeout(context.Background(), time.Duration(b.fewer(24, 6))*time.Second)
	defer stop()
	seen := make(chan int)
	go func() { seen <- s.follow(ctx) }()
	before, begin := cpu(s.Process.Pid), time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		one := c.stages[n%busy]
		one.passOne()
		must(play(b.hook.argv, one))
		select {
		case <-ctx.Done():
		case <-time.After(workEvery / time.Duration(busy)):
		}
	}
	share := 100 * float64(cpu(s.Process.Pid)-before) / float64(time.Since(begin))
	if n := <-seen; n < 2 {
		check(fmt.Errorf("%w: the page was told of %d changes", errDiffers, n))
	}
	return share
}

// passOne lets one feature more pass.
func (s *stage) passOne() {
	text := string(must(os.ReadFile(s.list())))
	check(os.WriteFile(s.list(), []byte(strings.Replace(text, `"passes": false`, `"passes": true `, 1)), 0o644))
}

// follow gets the page again after each change, and returns how often.
func (s served) follow(ctx context.Context) (changes int) {
	answer := must(s.client.Do(must(http.NewRequest(http.MethodGet, s.address+"events", nil))))
	defer answer.Body.Close()
	go func() {
		<-ctx.Done()
		answer.Body.Close()
	}()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if lines.Text() == "event: change" && ctx.Err() == nil {
			s.get(context.Background(), s.address)
			changes++
		}
	}
	return changes
}

// cpu returns the time that a process has taken of all cores.
func cpu(pid int) time.Duration {
	text := string(must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))))
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	user, system := must(strconv.Atoi(fields[11])), must(strconv.Atoi(fields[12]))
	return time.Duration(user+system) * tick
}
