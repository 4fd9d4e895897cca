package mcp

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

func init() { gittest.Isolate() }

// TestMain lets this test be the guard of the checks that it runs.
func TestMain(m *testing.M) {
	if proc.JobOf(os.Args[0]) == proc.GuardJob {
		os.Exit(proc.Guard(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// world is a project with the loops demo, of three features, and other, and a client of the server.
type world struct {
	t       *testing.T
	project string
	env     loop.Env
	desk    *Desk
	client  *mcp.ClientSession
}

const (
	demoList = `[{"id": "a", "title": "First", "passes": false}, {"id": "b", "passes": false},
		{"id": "c", "passes": false}]`
	otherList = `[{"id": "x", "passes": false}]`
)

func newWorld(t *testing.T) *world {
	t.Helper()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, project: project, env: loop.Env{
		Catch:   context.WithCancel,
		Program: "ralph-runner", Self: self, Agent: "test", Vars: os.Environ(), Cwd: project, Home: t.TempDir(),
		StateDir: t.TempDir(), CacheDir: t.TempDir(), ByAgent: true,
		Clients: func(string) (ask, resume []string) { return []string{"client"}, []string{"client", "--resume"} },
	}}
	w.write(loopdir.Below+"/demo/feature_list.json", demoList)
	w.write(loopdir.Below+"/other/feature_list.json", otherList)
	w.write(loopdir.Below+"/current", "demo\n")
	w.start()
	return w
}

func (w *world) write(path, text string) {
	w.t.Helper()
	path = filepath.Join(w.project, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// claim claims features of demo.
func (w *world) claim(ids ...string) {
	text := demoList
	for _, id := range ids {
		head, tail, _ := strings.Cut(text, `"id": "`+id+`"`)
		text = head + `"id": "` + id + `"` + strings.Replace(tail, "false", "true", 1)
	}
	w.write(loopdir.Below+"/demo/feature_list.json", text)
}

// start starts a server, as a client does, which it speaks to in lines. The test is the client's process.
func (w *world) start() {
	w.t.Helper()
	me := proc.Find(os.Getpid())
	w.desk = &Desk{
		Env: w.env, Init: "ralph-stop-hook init", Clients: []proc.Process{me},
	}
	s, err := New(w.desk, "test", io.Discard)
	if err != nil {
		w.t.Fatal(err)
	}
	in, asks := io.Pipe()
	answers, out := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	w.t.Cleanup(stop)
	go s.Run(ctx, in, out)
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	w.client, err = c.Connect(ctx, &mcp.IOTransport{Reader: answers, Writer: asks}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
}

// call calls a tool. text is what a client shows that knows no structured content.
func (w *world) call(name, arguments string) (text string, isError bool) {
	w.t.Helper()
	r, err := w.client.CallTool(context.Background(), &mcp.CallToolParams{
		Name: name, Arguments: json.RawMessage(arguments),
	})
	if err != nil {
		return err.Error(), true
	}
	text = r.Content[0].(*mcp.TextContent).Text
	if !r.IsError {
		w.fits(name, text, r.StructuredContent)
	}
	return text, r.IsError
}

// fits holds an answer to the tool's output schema, and its text to its structured content.
func (w *world) fits(name, text string, structured any) {
	w.t.Helper()
	var tools []struct {
		Name         string
		OutputSchema jsonschema.Schema
	}
	if err := json.Unmarshal(toolsText, &tools); err != nil {
		w.t.Fatal(err)
	}
	for _, t := range tools {
		if t.Name != name {
			continue
		}
		schema, err := t.OutputSchema.Resolve(nil)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := schema.Validate(structured); err != nil {
			w.t.Errorf("%s: its answer does not fit its schema: %v\n%s", name, err, text)
		}
	}
	var same any
	if err := json.Unmarshal([]byte(text), &same); err != nil {
		w.t.Errorf("%s: its text is no JSON: %s", name, text)
	}
	if a, b := toJSON(same), toJSON(structured); a != b {
		w.t.Errorf("%s: text and structured content differ:\n%s\n%s", name, a, b)
	}
}

func toJSON(v any) string {
	text, _ := json.Marshal(v) // of a value that was JSON
	return string(text)
}

// stop ends the turn of a session, as its host reports it.
func (w *world) stop(session string, client int, message string) decide.Decision {
	w.t.Helper()
	ev := loop.Event{
		Report: decide.Report{Event: decide.EventStop, Session: session, Client: client, Message: message},
		Name:   "Stop", At: time.Now(), Timeout: time.Minute,
	}
	l, err := loop.Find(w.env, ev)
	if err != nil || l == nil {
		w.t.Fatalf("a stop finds no loop: %v", err)
	}
	defer l.Close()
	s, err := l.Step(context.Background(), ev)
	if err != nil {
		w.t.Fatal(err)
	}
	l.Notify(context.Background(), ev, s)
	return s.Decision
}

// open opens the loop demo.
func (w *world) open() *loop.Loop {
	w.t.Helper()
	return w.openNamed("demo")
}

func (w *world) openNamed(name string) *loop.Loop {
	w.t.Helper()
	at, err := w.env.Where().Named(name)
	if err != nil {
		w.t.Fatal(err)
	}
	l, err := loop.Open(w.env, at)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func (w *world) state() decide.State {
	w.t.Helper()
	l := w.open()
	defer l.Close()
	s, err := l.Store.State()
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// trust trusts demo's ralph.json, as a person does.
func (w *world) trust() {
	w.t.Helper()
	l := w.open()
	defer l.Close()
	p, err := l.Look()
	if err != nil {
		w.t.Fatal(err)
	}
	text, err := l.Store.Config()
	if err != nil {
		w.t.Fatal(err)
	}
	record, err := l.NewTrust(text, p.Snapshot.List, false)
	if err != nil {
		w.t.Fatal(err)
	}
	err = l.Store.Locked(loop.LockWait, func() error { return l.SetTrust(record) })
	if err != nil {
		w.t.Fatal(err)
	}
}

// give gives demo to another session, whose client is the parent of this process.
func (w *world) give() {
	w.t.Helper()
	l := w.open()
	defer l.Close()
	_, err := l.Change("attach", func(p *loop.Picture, next *decide.State) error {
		*next = decide.Attach(p.Snapshot, "another").Next
		owner := proc.Find(os.Getppid())
		next.SessionPID, next.ClientStart = owner.PID, owner.Start
		return l.Store.Bind("another")
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// works has a session of this client work a loop, which was seen some time ago, and leaves it with that status. With no
// session nobody works it.
func (w *world) works(name, session string, status decide.Status, ago time.Duration) {
	w.t.Helper()
	l := w.openNamed(name)
	defer l.Close()
	_, err := l.Change("attach", func(p *loop.Picture, next *decide.State) error {
		*next = decide.Attach(p.Snapshot, "begins").Next
		me := proc.Find(os.Getpid())
		next.Session, next.SessionPID, next.ClientStart = session, me.PID, me.Start
		if session == "" {
			next.Release()
		}
		next.Status, next.Seen = status, time.Now().Add(-ago)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}
