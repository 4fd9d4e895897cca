package watchtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/mcp"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/page"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/report"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/screen"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
)

// is is what a person is to see of a loop, whichever face it has.
type is struct {
	word                                string
	proven, claimed, open, aside, added int
	unchecked                           bool
	cost                                string // "": not known
}

// far says in words how far the loop is.
func (i is) far() string {
	total := i.proven + i.claimed + i.open
	text := fmt.Sprintf("%d of %d proven", i.proven, total)
	switch {
	case i.unchecked:
		text = fmt.Sprintf("%d of %d claimed, none checked", i.claimed, total)
	case i.claimed > 0:
		text += fmt.Sprintf(", %d claimed", i.claimed)
	}
	if i.aside > 0 {
		text += fmt.Sprintf(", %d set aside", i.aside)
	}
	if i.added > 0 {
		text += fmt.Sprintf(", %d added", i.added)
	}
	return text
}

// parts are the features of each state.
func (i is) parts() (texts []string) {
	for _, one := range []struct {
		n    int
		word string
	}{{i.proven, "proven"}, {i.claimed, "claimed"}, {i.aside, "set aside"}, {i.open - i.aside, "open"}} {
		if one.n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", one.n, one.word))
		}
	}
	return texts
}

// onPages says it as pages do.
func (i is) onPages() []string {
	number := fmt.Sprintf("%d of %d proven", i.proven, i.proven+i.claimed+i.open)
	if i.unchecked {
		number = fmt.Sprintf("%d of %d claimed", i.claimed, i.proven+i.claimed+i.open)
	}
	parts := strings.Join(i.parts(), " ")
	if i.added > 0 {
		parts += fmt.Sprintf(" %d added", i.added)
	}
	return []string{number, parts, i.word}
}

// forPrograms says it as JSON does.
func (i is) forPrograms() string {
	return fmt.Sprintf(`"features":{"total":%d,"passed":%d,"proven":%d,"claimed":%d,"setAside":%d,"added":%d,"open":`,
		i.proven+i.claimed+i.open, i.proven+i.claimed, i.proven, i.claimed, i.aside, i.added)
}

const checked = `{"checks": [{"name": "tests", "command": ["false"], "when": "claim"}], "limits": {"attempts": 3}}`

// faces has a user with loops in ten situations.
type faces struct {
	watchtest.World
	of   map[string]is
	page http.Handler
}

// add makes a loop of ten features, of which four are done and three of these proven, one is set aside, and one was
// added after trust.
func (f *faces) add(name, word, cost string, r *record.Run, edit func(*decide.State)) *loopdir.Loop {
	f.Helper()
	at := f.Loop(name)
	f.Trust(at, checked, watchtest.List(9, 0))
	f.Write(filepath.Join(at.Dir, loopdir.ListFile), watchtest.List(10, 4))
	f.prove(at, "f0", "f1", "f2")
	f.Commit(at, func(s *decide.State) {
		s.Failures = map[string]decide.Failure{"f7": {Attempts: 3, Why: "tests failed"}}
		if r != nil {
			s.Session = decide.RunSession(r.ID)
		}
		edit(s)
	})
	if r != nil {
		f.Run(at, *r)
	}
	f.of[name] = is{word: word, proven: 3, claimed: 1, open: 6, aside: 1, added: 1, cost: cost}
	return at
}

// prove notes that the loop's check has passed for some features.
func (f *faces) prove(at *loopdir.Loop, ids ...string) {
	f.Helper()
	l, err := loop.Open(f.Env, at)
	if err != nil {
		f.Fatal(err)
	}
	defer l.Close()
	p, err := l.Look()
	if err != nil || len(p.Snapshot.Checks) != 1 {
		f.Fatalf("%d checks, %v", len(p.Snapshot.Checks), err)
	}
	var all []decide.Receipt
	for _, id := range ids {
		all = append(all, decide.Receipt{Feature: id, Check: p.Snapshot.Checks[0].Digest, Name: "tests", At: time.Now()})
	}
	if err := l.Store.SetReceipts(all); err != nil {
		f.Fatal(err)
	}
}

func run(pid int, usd float64) *record.Run {
	return &record.Run{
		ID: "run1", PID: pid, Start: proc.Start(pid), StartedAt: time.Now().Add(-time.Hour), Sessions: 1,
		Options: record.Options{Agent: "claude"},
		Spent:   record.Sum{Usage: agent.Usage{CostUSD: usd, CostKnown: true}},
	}
}

func newFaces(t *testing.T) *faces {
	f := &faces{World: watchtest.New(t), of: map[string]is{}}
	me, gone := os.Getpid(), 1<<30
	ended := func(status decide.Status, reason, needs string) func(*decide.State) {
		return func(s *decide.State) {
			s.Status, s.ExitReason, s.Needs, s.EndedAt = status, reason, needs, time.Now()
		}
	}
	same := func(*decide.State) {}
	f.add("idle", "NEEDS YOU", "", nil, func(s *decide.State) { s.Idle = time.Now().Add(-time.Hour) })
	failing := f.add("failing", "RUNNING", "", nil, same)
	f.Write(filepath.Join(failing.Dir, loopdir.CheckLines), fmt.Sprintf(`{"start": "%s", "check": "tests", "outcome": `+
		`"exit status 1", "durationMs": 1, "output": "got 3, want 4"}`+"\n", time.Now().UTC().Format(time.RFC3339)))
	lanes := run(me, 3078.28)
	for i := range 4 {
		begin := time.Now().Add(-30 * time.Minute)
		c := record.Current{Session: record.Session{
			Number: i + 1, Lane: i + 1, Feature: fmt.Sprint("f", i+4), StartedAt: begin,
		}}
		lanes.Lanes = append(lanes.Lanes, record.Lane{Number: i + 1, Current: &c})
	}
	lanes.Sessions = 4
	at := f.add("lanes", "RUNNING", "$3078.28", lanes, same)
	for i := range 4 {
		f.Printed(at, i+1, "a line\n", map[bool]time.Duration{true: 22 * time.Minute}[i == 2])
	}
	silent := run(me, 1)
	silent.Current = &record.Current{Session: record.Session{
		Number: 1, Feature: "f4", StartedAt: time.Now().Add(-time.Hour),
	}}
	f.Printed(f.add("silent", "STUCK", "$1.00", silent, same), 1, "a line\n", 22*time.Minute)
	waiting := run(me, 1.5)
	waiting.Waiting = &record.Waiting{Until: time.Now().Add(time.Hour), Why: "a limit of the provider"}
	f.add("provider", "WAITING", "$1.50", waiting, same)
	f.add("question", "BLOCKED", "$0.21", run(gone, 0.21), ended(decide.Blocked, decide.Asks, "an API key"))
	f.add("complete", "COMPLETE", "$0.30", run(gone, 0.3), ended(decide.Complete, decide.AllFeaturesPass, ""))
	f.Write(filepath.Join(f.dir("complete"), loopdir.ListFile), watchtest.List(10, 10))
	f.of["complete"] = is{word: "COMPLETE", proven: 3, claimed: 7, added: 1, cost: "$0.30"}
	f.add("failed", "FAILED", "$0.40", run(gone, 0.4), ended(decide.Failed, decide.Unusable, "no list"))
	f.add("cancelled", "CANCELLED", "", nil, ended(decide.Cancelled, decide.ByPerson, ""))
	f.add("limit", "REACHED_LIMIT", "$0.50", run(gone, 0.5), ended(decide.ReachedLimit, decide.MaxIterations, ""))
	unchecked := f.Loop("unchecked")
	f.Write(filepath.Join(unchecked.Dir, loopdir.ListFile), watchtest.List(10, 4))
	f.of["unchecked"] = is{word: "RUNNING", claimed: 4, open: 6, unchecked: true}
	for i := range 30 - len(f.of) {
		f.add(fmt.Sprint("more", i), "RUNNING", "", nil, same)
	}
	w, err := watch.New(f.Env)
	if err != nil {
		t.Fatal(err)
	}
	server := &page.Server{Env: f.Env, Watcher: w, Token: "the-token"}
	f.page, err = server.Handler(8080)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// dir is the folder of a loop.
func (f *faces) dir(name string) string {
	return filepath.Join(f.Dir, "projects", name, loopdir.Below, name)
}

// verb returns what a command prints about a loop.
func (f *faces) verb(name string, make func(verb.Verbs) *cobra.Command, flags ...string) string {
	f.Helper()
	env := f.Env
	env.LoopDir = f.dir(name)
	cmd := make(verb.Verbs{Env: env})
	var out bytes.Buffer
	cmd.SetOut(&out)
	for _, flag := range flags {
		if err := cmd.Flags().Set(flag, "true"); err != nil {
			f.Fatal(err)
		}
	}
	if err := cmd.RunE(cmd, nil); err != nil {
		f.Errorf("%s: %v", name, err)
	}
	return out.String()
}

func (f *faces) get(path string) string {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/the-token"+path, nil)
	w := httptest.NewRecorder()
	f.page.ServeHTTP(w, r)
	return w.Body.String()
}

// text is what a reader sees of a page.
func text(page string) string {
	_, page, _ = strings.Cut(page, "<body")
	page, _, _ = strings.Cut(page, `<nav class="tabs"`)
	page = regexp.MustCompile(`<[^>]*>`).ReplaceAllString("<body"+page, " ")
	return strings.Join(strings.Fields(page), " ")
}

func compact(text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return err.Error() + ": " + text
	}
	return b.String()
}

// face is a way in which people or programs see a loop.
type face struct {
	name string
	show func(name string) string
	want func(i is) []string
}

func (f *faces) all(picture *watch.Picture, lines string, client *sdk.ClientSession) []face {
	key := func(name string) string { return picture.Find(name).Key }
	page := func(i is) []string { return append(i.onPages(), i.cost) }
	inJSON := func(i is) []string {
		usd := ""
		if i.cost != "" {
			usd = `"costUsd":` + strings.TrimSuffix(strings.TrimRight(i.cost[1:], "0"), ".") + ","
		}
		return []string{i.forPrograms(), usd}
	}
	made := func(name string) *report.Report {
		d, err := watch.Open(f.Env, f.dir(name))
		if err != nil {
			f.Fatal(err)
		}
		return report.Of(d, nil)
	}
	far := func(i is) string { return strings.Replace(i.far(), " of 10 ", " of 10 features ", 1) }
	bar := func(i is) string {
		text := strings.Join(i.parts(), ", ") + ", of 10 features"
		if i.added > 0 {
			text += fmt.Sprintf(", %d added", i.added)
		}
		return text
	}
	return []face{
		{"status", func(name string) string { return f.verb(name, verb.Verbs.Status) },
			func(i is) []string { return []string{": " + i.word, "features   " + i.far() + "\n", i.cost} }},
		{"status --json", func(name string) string { return compact(f.verb(name, verb.Verbs.Status, "json")) }, inJSON},
		{"status --line", func(name string) string { return f.verb(name, verb.Verbs.Status, "line") },
			func(i is) []string {
				word := strings.Replace(" · "+i.word, " · RUNNING", " · iteration ", 1)
				return []string{fmt.Sprintf(" %d/%d ·", i.proven+i.claimed, i.proven+i.claimed+i.open), word}
			}},
		{"list", func(name string) string {
			out := f.verb(name, verb.Verbs.List)
			count := func(state string) int { return strings.Count("\n"+out, "\n"+state+" ") }
			return fmt.Sprintf("%d proven, %d claimed, %d open, %d set aside, %d added", count("proven"), count("claimed"),
				count("open")+count("set_aside"), count("set_aside"), strings.Count(out, "added after trust"))
		}, func(i is) []string {
			return []string{fmt.Sprintf("%d proven, %d claimed, %d open, %d set aside, %d added", i.proven, i.claimed, i.open,
				i.aside, i.added)}
		}},
		{"watch --lines", func(name string) string {
			_, line, _ := strings.Cut(lines, " "+name+": ")
			line, _, _ = strings.Cut(line, "\n")
			return line
		}, func(i is) []string { return []string{i.word + ", " + far(i) + ", ", i.cost} }},
		{"page", func(name string) string { return text(f.get("/loop/" + key(name))) }, page},
		{"page's JSON", func(name string) string { return compact(f.get("/api/loops/" + key(name))) }, inJSON},
		{"page's bar", func(name string) string {
			_, row, _ := strings.Cut(f.get("/"), `data-key="`+key(name)+`"`)
			row, _, _ = strings.Cut(row, "</li>")
			return row
		}, func(i is) []string { return []string{`aria-label="` + bar(i) + `"`, ">" + i.word + "<", i.cost} }},
		{"report", func(name string) string {
			var b strings.Builder
			if err := made(name).HTML(&b); err != nil {
				f.Error(err)
			}
			return text(b.String())
		}, page},
		{"report in Markdown", func(name string) string {
			var b strings.Builder
			if err := made(name).Markdown(&b); err != nil {
				f.Error(err)
			}
			return b.String()
		}, func(i is) []string {
			word := strings.ReplaceAll(i.word, "_", `\_`)
			return []string{"| features | " + far(i) + " |", i.cost, word}
		}},
		{"task_get", func(name string) string {
			r, err := client.CallTool(context.Background(), &sdk.CallToolParams{
				Name: "task_get", Arguments: map[string]any{"id": name},
			})
			if err != nil {
				return err.Error()
			}
			return compact(r.Content[0].(*sdk.TextContent).Text)
		}, func(i is) []string { return []string{i.forPrograms() + fmt.Sprint(i.open) + "}"} }},
	}
}

// lacks returns what a face does not show.
func lacks(shown string, want []string) (missing []string) {
	for _, one := range want {
		if !strings.Contains(shown, one) {
			missing = append(missing, one)
		}
	}
	return missing
}

// client connects to an MCP server for the loop of a project.
func (f *faces) client(name string) *sdk.ClientSession {
	env := f.Env
	env.Cwd = filepath.Join(f.Dir, "projects", name)
	s, err := mcp.New(&mcp.Desk{Env: env, Clients: []proc.Process{proc.Find(os.Getpid())}}, "test", io.Discard)
	if err != nil {
		f.Fatal(err)
	}
	in, asks := io.Pipe()
	answers, out := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	f.Cleanup(stop)
	go s.Run(ctx, in, out)
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(ctx, &sdk.IOTransport{Reader: answers, Writer: asks}, nil)
	if err != nil {
		f.Fatal(err)
	}
	return session
}

// TestFaces compares what each face shows of a loop with what is so.
func TestFaces(t *testing.T) {
	f := newFaces(t)
	w, err := watch.New(f.Env)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var lines strings.Builder
	if err := screen.Lines(ctx, screen.Options{Env: f.Env, Watcher: w}, &lines); err != nil {
		t.Fatal(err)
	}
	if n := len(w.Picture().Loops); n != 30 {
		t.Fatalf("%d loops, want 30", n)
	}
	for name, want := range f.of {
		if strings.HasPrefix(name, "more") && name != "more0" {
			continue
		}
		for _, one := range f.all(w.Picture(), lines.String(), f.client(name)) {
			shown := one.show(name)
			if missing := lacks(shown, one.want(want)); len(missing) > 0 {
				t.Errorf("%s, %s: there is no %q in %s", name, one.name, missing, shown)
			}
			for i, other := range others(want) {
				if one.name == "status --line" && i > 1 {
					continue // it has only what is done, of how many
				}
				if len(lacks(shown, one.want(other))) == 0 {
					t.Errorf("control: %s, %s: %+v is taken for %+v", name, one.name, shown, other)
				}
			}
		}
	}
}

// TestNotice compares what the notifiers of a loop that ends get with what its faces show.
func TestNotice(t *testing.T) {
	f := &faces{World: watchtest.New(t), of: map[string]is{}}
	at := f.add("told", "NEEDS YOU", "", nil, func(s *decide.State) { s.SessionPID = 1 << 30 }) // its client is gone
	f.Trust(at, strings.Replace(checked, "{", `{"on_complete": ["true"], `, 1), watchtest.List(9, 0))
	f.Write(filepath.Join(at.Dir, loopdir.ListFile), watchtest.List(10, 4))
	f.verb("told", verb.Verbs.Status, "send-due")
	store, err := at.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	state, err := store.State()
	if err != nil || state.Status != decide.Interrupted || len(state.Notices) != 1 {
		t.Fatalf("%s with %d notices, %v", state.Status, len(state.Notices), err)
	}
	told := compact(string(state.Notices[0].Payload))
	if want := f.of["told"].forPrograms(); !strings.Contains(told, want) {
		t.Errorf("there is no %s in %s", want, told)
	}
}

// others returns what is another number than what is so, each in one.
func others(i is) []is {
	all := []is{i, i, i, i, i}
	all[0].open++
	all[1].proven++
	all[2].claimed, all[2].proven, all[2].unchecked = i.claimed+1, i.proven+1, false
	all[3].aside++
	all[4].added++
	return all
}
