//go:build faults && linux

package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// lease is that of all runs with workers here.
const lease = 2 * time.Second

// fleet is a loop whose sessions workers on several machines take. The machines are folders, each with the home of
// a person of its own; see network for machines with a network of their own.
type fleet struct {
	*laneTrial
	engine   []string      // the arguments of the run that say where its engine is
	still    time.Duration // for how long nothing may go forward
	machines []*machine
	dies     func() []string // more variables of the next process of the run, which may kill it

	log    *os.File     // what the runs have said
	breaks atomic.Int64 // what the harness has done to the run, its workers and its servers
	mu     sync.Mutex
	now    *exec.Cmd // the run that works; nil: none does
	resume bool      // a run has been killed
	kills  int
}

// machine has one worker, which is started again whenever it is killed.
type machine struct {
	of     *fleet
	name   string
	dir    string
	via    []string        // what starts a program on this machine
	engine string          // where the worker finds the engine; "": its credential says so
	dies   func() []string // more variables of the next worker, which may kill it
	gone   bool            // once killed, it is not started again
	log    *os.File

	mu    sync.Mutex
	now   *exec.Cmd
	kills int
}

// newFleet makes a loop, and machines for it. A session takes at least nap.
func newFleet(h *harness, name string, features, machines int, nap time.Duration) (*fleet, error) {
	p, err := get(name)
	if err != nil {
		return nil, err
	}
	t, err := newLaneTrial(newWorld(h, p, inMemory), features, 4, nap)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	f := &fleet{laneTrial: t, still: 5 * time.Minute, engine: []string{"--engine", "embedded", "--listen",
		net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}}
	f.log, err = os.Create(filepath.Join(t.root, "run.log"))
	if err != nil {
		return nil, err
	}
	h.Cleanup(func() { f.log.Close() })
	for i := range machines {
		m := &machine{of: f, name: fmt.Sprintf("m%d", i+1)}
		if err := m.make(); err != nil {
			return nil, err
		}
		h.Cleanup(func() { m.log.Close() })
		f.machines = append(f.machines, m)
	}
	h.Cleanup(func() { _ = f.quell() })
	return f, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// make makes the machine's folders, and the agent of its person.
func (m *machine) make() (err error) {
	m.dir = filepath.Join(m.of.root, m.name)
	const config = ".config/ralph-stop-hook"
	for _, dir := range []string{config, "tmp"} {
		if err := os.MkdirAll(filepath.Join(m.dir, dir), 0o700); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(filepath.Join(m.of.root, "home", config, "config.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(m.dir, config, "config.json"), text, 0o600)
	}
	if err == nil {
		m.log, err = os.Create(filepath.Join(m.of.root, m.name+".log"))
	}
	return err
}

// environ is that of the machine's person.
func (m *machine) environ() []string {
	env := slices.DeleteFunc(slices.Clone(m.of.world.env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "HOME" || name == "TMPDIR" || name == "RALPH_STATE_DIR"
	})
	return append(env, "HOME="+m.dir, "TMPDIR="+filepath.Join(m.dir, "tmp"))
}

var credential = regexp.MustCompile(`RALPH_ENGINE=(\S+)`)

// token has the run's person make the credential of this machine, as soon as there is an engine.
func (m *machine) token(ctx context.Context) (string, error) {
	for ctx.Err() == nil {
		cmd := exec.CommandContext(ctx, m.of.path, "engine", "token", m.name, loopName)
		cmd.Dir, cmd.Env = m.of.project, m.of.world.env
		out, err := cmd.Output()
		if found := credential.FindSubmatch(out); err == nil && found != nil {
			return string(found[1]), nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return "", context.Cause(ctx)
}

// keep keeps a worker at work until ctx ends. The error is that of a worker that ended by itself.
func (m *machine) keep(ctx context.Context) error {
	creds, err := m.token(ctx)
	for err == nil && ctx.Err() == nil {
		err = m.once(ctx, creds)
		if m.gone && m.kills > 0 {
			<-ctx.Done()
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// once starts a worker and waits for its end.
func (m *machine) once(ctx context.Context, creds string) error {
	argv := append(slices.Clone(m.via), m.of.path, "worker", "--dir", filepath.Join(m.dir, "work"))
	if m.engine != "" {
		argv = append(argv, "--engine", m.engine)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = m.dir, append(m.environ(), "RALPH_ENGINE="+creds), m.log, m.log
	if m.dies != nil {
		cmd.Env = append(cmd.Env, m.dies()...)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	m.mu.Lock()
	m.now = cmd
	m.mu.Unlock()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
			m.of.note("%s did not end when it was asked to", m.name)
		}
	}
	m.mu.Lock()
	m.now = nil
	m.mu.Unlock()
	if wasKilled(cmd) {
		m.kills++
		m.of.breaks.Add(1)
		return nil
	}
	return fmt.Errorf("the worker on %s ends by itself: %w", m.name, err)
}

func wasKilled(cmd *exec.Cmd) bool {
	status, is := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return is && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// signal sends a signal to the machine's worker. It reports whether there is one.
func (m *machine) signal(s syscall.Signal) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now != nil && m.now.Process.Signal(s) == nil
}

// works reports whether the machine's worker has a feature.
func (m *machine) works() bool {
	text, _ := os.ReadFile(m.log.Name())
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return bytes.HasSuffix(lines[len(lines)-1], []byte(" begins"))
}

// inSession reports whether the agent of the machine's worker is at work. Before that the worker gets its commit, and
// gives the feature back if it cannot.
func (m *machine) inSession() bool {
	log, _ := os.ReadFile(m.log.Name())
	diary, _ := os.ReadFile(filepath.Join(m.of.diary(), "sessions"))
	last := ""
	for line := range strings.Lines(string(diary)) {
		if id, home, _ := strings.Cut(strings.TrimSpace(line), " "); home == m.dir {
			last = id
		}
	}
	return last != "" && bytes.HasSuffix(log, []byte(" · "+last+" begins\n"))
}

// kill kills the run.
func (f *fleet) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now != nil {
		_ = f.now.Process.Kill()
	}
}

// note writes down what the harness does, among what the runs say.
func (f *fleet) note(format string, args ...any) {
	f.breaks.Add(1)
	fmt.Fprintf(f.log, time.Now().Format("15:04:05.000")+" *** "+format+"\n", args...)
}

// work runs the loop to its end, while mischief is made, and then ends the workers. A run that was killed goes on.
func (f *fleet) work(mischief ...func(ctx context.Context)) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go f.watch(ctx, cancel)
	over, end := context.WithCancel(ctx)
	defer end()
	var all sync.WaitGroup
	var once sync.Mutex
	var failed error
	fail := func(err error) {
		once.Lock()
		defer once.Unlock()
		failed = errors.Join(failed, err)
	}
	for _, m := range f.machines {
		all.Go(func() { fail(m.keep(over)) })
	}
	for _, one := range mischief {
		all.Go(func() { one(over) })
	}
	again := true
	for again {
		var err error
		again, err = f.one(ctx)
		if err != nil {
			fail(err)
		}
	}
	end()
	all.Wait()
	return failed
}

// watch ends a run in which nothing goes forward: no feature is merged, and the harness breaks nothing. How long a run
// takes as a whole says more about the machine than about the product. Features and faults are finite, so it ends.
func (f *fleet) watch(ctx context.Context, end context.CancelCauseFunc) {
	was, at := int64(-1), time.Now()
	for pause(ctx, 2*time.Second) {
		if now := f.breaks.Load() + int64(f.merges()); now != was {
			was, at = now, time.Now()
		}
		if time.Since(at) > f.still {
			end(fmt.Errorf("no feature was merged for %s", f.still))
		}
	}
}

// one starts the run and waits for its end. It reports whether it was killed, and is to go on.
func (f *fleet) one(ctx context.Context) (killed bool, err error) {
	args := append([]string{loopName, "--agent", "worker", "--workers", strconv.Itoa(f.lanes), "--lease",
		lease.String()}, f.engine...)
	f.resume = f.resume || f.hasRun()
	if f.resume {
		args = []string{"--resume"}
	}
	cmd := exec.Command(f.path, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = f.project, slices.Clone(f.world.env), f.log, f.log
	if f.dies != nil {
		cmd.Env = append(cmd.Env, f.dies()...)
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	f.mu.Lock()
	f.now = cmd
	f.mu.Unlock()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		return false, context.Cause(ctx)
	}
	f.mu.Lock()
	f.now = nil
	f.mu.Unlock()
	if wasKilled(cmd) {
		f.kills++
		f.breaks.Add(1)
		return true, nil
	}
	if state, unread := f.record(); err != nil && f.kills > 0 && unread == nil && state.Status == "COMPLETE" {
		return false, nil // it was killed when it had ended, so there is nothing to go on with
	}
	if err != nil {
		err = fmt.Errorf("the run ends with %w", err)
	}
	return false, err
}

// merges returns how many features the loop's branch has.
func (f *fleet) merges() int {
	log, _ := f.git("log", "--format=%(trailers:key=Ralph-Feature,valueonly,separator=;)", f.base+"..main")
	return len(strings.Fields(log))
}

// pause waits, and reports whether the run still works.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// until waits until something is true, and reports whether the run still works.
func until(ctx context.Context, is func() bool) bool {
	for !is() {
		if !pause(ctx, 20*time.Millisecond) {
			return false
		}
	}
	return true
}
