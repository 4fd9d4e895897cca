package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/confine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Picture is a loop as it was read, with the configuration that is in force.
type Picture struct {
	Loop     *Loop
	Snapshot decide.Snapshot
	Config   config.Effective
	Agent    agenthook.Record // what the agent asks of the loop by its tools

	untrusted string // a check that nobody has trusted; "": there is none
}

// HasCopy reports whether something runs in a copy.
func (p *Picture) HasCopy() bool { return p.Config.Baseline != "" }

// peek reads only what tells a bystander.
func (l *Loop) peek(ev Event) (decide.Snapshot, error) {
	s := decide.Snapshot{
		Report: ev.Report,
		Folder: decide.Folder{Bound: l.At.Bound},
		Now:    ev.At,
	}
	s.Goal = ev.Goal || ev.Marked && ev.Rivals != nil && ev.Rivals()
	if l.client.PID != ev.Client {
		l.client = proc.Find(ev.Client)
	}
	var err error
	s.State, err = l.Store.State()
	if err != nil {
		return s, err
	}
	if s.State.Schema == 0 {
		if err := l.peekUnrecorded(&s, ev); err != nil {
			return s, err
		}
	}
	l.takeRequests(&s)
	owner := s.State
	s.DuplicateStop = l.answered
	l.hook = l.Store.Stopping()
	if hook := l.hook; hook != nil {
		mine := hook.PID == os.Getpid()
		alive := proc.Alive(hook.PID, hook.Start)
		// A client has one stop of a session at a time, and ends a hook that is late. So a second hook at the same time
		// comes from a second settings entry, or from a check, if the first one runs checks. One that was stopped answers
		// nothing.
		sameClient := s.Client == 0 || s.Client == owner.SessionPID // a check is not told which client it is
		s.DuplicateStop = s.DuplicateStop || hook.What != "" && !mine && alive && proc.Known(hook.Start) &&
			owner.Session == ev.Session && sameClient && !proc.Stopped(proc.Process{PID: hook.PID, Start: hook.Start})
		switch {
		case mine:
			s.Killed = hook.Killed
		case !alive:
			s.Killed = hook.Killed + 1
			s.CutOff = hook
		}
	}
	if s.CutOff != nil && s.CutOff.Since.Before(owner.Seen) { // the owner has sent another event since
		s.CutOff = nil
	}
	s.OwnerKnown = owner.SessionPID > 0 && (owner.ClientStart == "" || proc.Known(owner.ClientStart))
	calls := l.client.Start != "" && s.Client == owner.SessionPID && l.client.Start == owner.ClientStart
	s.OwnerAlive = owner.Session != "" && !owner.HasEnded &&
		(owner.SessionPID == 0 || calls || proc.Alive(owner.SessionPID, owner.ClientStart))
	return s, nil
}

// Read reads the whole loop. It takes no lock.
func (l *Loop) Read(ev Event) (*Picture, error) {
	ev.Marked = l.marked
	return l.read(ev, decide.Found{}, nil)
}

// Look reads the whole loop for a verb. A verb is not an event of a host.
func (l *Loop) Look() (*Picture, error) { return l.Read(now()) }

// read reads the whole loop. found is what was looked up for the decision; listed,
// if it is not nil, is what the tracker just said.
func (l *Loop) read(ev Event, found decide.Found, listed *decide.List) (*Picture, error) {
	p := &Picture{Loop: l}
	s := &p.Snapshot
	var err error
	*s, err = l.peek(ev)
	if err != nil {
		return p, err
	}
	notes, err := l.Store.Progress()
	if err != nil {
		return p, err
	}
	trust, err := l.Store.Trust()
	if err != nil {
		return p, fmt.Errorf("%w; look at the loop's files, then run: %s", err, InProject(l.Env, l.At, l.Call("trust")))
	}
	text, err := l.Store.Config()
	if err != nil {
		return p, err
	}
	var invalid error
	p.Config, invalid = config.Choose(trust, text)
	if invalid == nil && p.Config.Confine {
		invalid = errors.Join(confine.Available(), loopdir.KeepOut(p.Config.Folders, l.Env.StateDir))
	}
	if invalid != nil {
		s.ConfigErr = fmt.Errorf("%s: %w", filepath.Join(l.At.Dir, loopdir.ConfigFile), invalid)
	}
	s.Found, s.NoList = found, p.Config.NoList()
	s.Header = progress.Parse(notes)
	s.Limits = p.Limits()
	if s.NoList {
		s.Limits.Attempts, s.Limits.FeaturesPerSession = 0, 0
	}
	s.Running = ev.background(p.Config.WaitShells)
	p.readList(listed)
	if s.List.HasEntries && s.List.Err == nil && !p.Config.Source.IsSet() { // a tracker's list brings no checks
		p.Config.AddListChecks(s.List.List)
	}
	p.untrusted = p.untrustedSinceStart()
	for _, e := range p.Config.Evaluators {
		e.Refused = e.Untrusted
		s.Evaluators = append(s.Evaluators, e.Evaluator)
	}
	s.Untrusted = p.Config.Untrusted > 0 || p.untrusted != ""
	s.Promises = p.Config.Promises
	s.GuardsOff = p.Config.GuardsOff
	for _, c := range p.Config.Checks {
		s.Checks = append(s.Checks, c.Check)
	}
	if len(s.Checks) > 0 {
		s.Receipts, err = l.Store.Receipts()
	}
	return p, errors.Join(err, p.readAgent())
}

// Limits returns the limits of ralph.json under the user's own ceilings.
func (p *Picture) Limits() decide.Limits {
	limits := p.Config.Limits
	limits.Trusted = p.Config.Trusted
	text, path, err := loopdir.UserFile(p.Loop.Env.ConfigDir, loopdir.UserConfigFile, config.MaxBytes)
	if text == nil && err == nil {
		return limits
	}
	var own config.UserConfig
	if err == nil {
		own, err = config.ParseUserConfig(text)
	}
	if err != nil && p.Snapshot.ConfigErr == nil {
		p.Snapshot.ConfigErr = fmt.Errorf("%s: %w", path, err)
	}
	return limits.CappedBy(own.Limits)
}

// readList reads the list: what the tracker just said or said last, or the file.
func (p *Picture) readList(listed *decide.List) {
	s := &p.Snapshot
	switch s.ListIsOld = p.Config.Source.IsSet() && listed == nil; {
	case s.NoList:
	case listed != nil:
		s.List = *listed
	case s.ListIsOld:
		s.List = p.Loop.Store.SourceList(s.Now)
	default:
		s.List = p.Loop.Store.List(p.ListPath(), p.reading())
	}
	if p.Config.ListSHA256 != "" {
		s.List = p.underContract(s.List)
	}
}

// reading is how the list is read.
func (p *Picture) reading() features.Reading {
	return features.Reading{Skip: p.Config.SkipHeadings, Now: p.Snapshot.Now}
}

// underContract returns the list as a person trusted it, with the flags of the one that was read. One that is gone, or
// has no items, claims nothing.
func (p *Picture) underContract(list decide.List) decide.List {
	_, moved := os.Stat(p.Loop.At.Project)
	gone := list.Missing && moved == nil || errors.Is(list.Err, features.ErrEmpty)
	if p.Config.ListSHA256 == "" || p.Snapshot.NoList || list.Err != nil && !gone {
		return list
	}
	how := p.reading()
	if !p.Config.Source.IsSet() {
		_, how.Tag = features.SplitTag(p.ListPath())
	}
	contract, err := how.Parse([]byte(p.Config.ListText))
	if err != nil {
		trust := InProject(p.Loop.Env, p.Loop.At, p.Loop.Call("trust"))
		return decide.List{Err: fmt.Errorf("the list that was trusted cannot be read: %v; look at the list, then run: %s",
			err, trust)}
	}
	return decide.List{List: contract.TakeFlags(list.List), Missing: list.Missing}
}

// ListPath returns the path of the list, as features.SplitTag reads it.
func (p *Picture) ListPath() string { return p.Loop.At.ListPath(p.Config.List, p.Snapshot.State.List) }

// ListName returns what people and the agent know the list by, "" if there is none.
func (p *Picture) ListName() string {
	if p.Config.Source.IsSet() {
		return "the list of " + strings.Join(p.Config.Source.List.Argv, " ")
	}
	return NameList(p.ListPath())
}

// NameList shows a list's path, with its tag, to whoever should look into it.
func NameList(path string) string {
	file, tag := features.SplitTag(path)
	if tag != "" {
		file += fmt.Sprintf(" (tag %q)", plain.Line(tag, 80))
	}
	return file
}

// Checking returns the process that runs commands of the loop now; nil: none does.
func (p *Picture) Checking() *decide.Running {
	hook := p.Loop.hook
	if hook == nil || hook.What == "" || !proc.Alive(hook.PID, hook.Start) {
		return nil
	}
	return hook
}

// Stale reports whether the client of the loop's session was closed or killed. A loop that a
// person took up again since then waits for a session, and is not stale.
func (p *Picture) Stale() bool {
	s := &p.Snapshot
	return s.State.Status == decide.InProgress && s.State.Session != "" && s.OwnerKnown && !s.OwnerAlive && !s.State.Waits
}

// tree returns the loop's work tree. It leaves out all loops of the project, because another
// session may write to another loop. It ignores what git ignored when a person trusted the checks,
// whatever the rules are now.
func (p *Picture) tree() tree.Tree {
	env, _ := p.environ()
	t := p.Loop.tree(env)
	t.Rules = p.Config.Rules
	return t
}

func (l *Loop) tree(env []string) tree.Tree {
	except := l.At.Dir
	if parent := filepath.Dir(l.At.Dir); parent == filepath.Join(l.At.Project, loopdir.Below) {
		except = parent
	}
	project := l.project()
	return tree.Tree{Env: env, Dir: project, Top: loopdir.RepoRoot(project), Except: l.workPath(except),
		Runs: filepath.Join(project, loopdir.RunFolder)}
}

// changes returns the fingerprint of what the list asks for and of the work tree, the files that were written since the
// last stop or prompt, without the list, and the index of the tree to be kept. A list that can be read counts by what
// it says, however that is spelled.
func (p *Picture) changes(ctx context.Context) (print string, written []string, index []byte) {
	since := p.Snapshot.State.Seen
	if p.Snapshot.State.Status != decide.InProgress {
		since = time.Time{} // a person may have written files meanwhile
	}
	t := p.tree()
	list, _ := features.SplitTag(p.Loop.workPath(p.ListPath()))
	if p.Snapshot.List.Err == nil {
		t.List = list
	}
	var seen *tree.Entries
	if p.HasCopy() {
		t = p.work()
		look := p.Loop.look
		if look == nil { // no check has looked
			look, _ = p.look(ctx, false)
		}
		if look != nil {
			seen = &look.ProjectFiles
		}
	}
	print, written, index = t.Fingerprint(ctx, since, seen, p.Loop.Store.TreeIndex())
	if loopdir.RepoRoot(p.Loop.project()) == "" {
		written = nil // nobody knows what a build writes
	}
	list, _ = filepath.Rel(t.Dir, list)
	written = slices.DeleteFunc(written, func(name string) bool { return name == filepath.ToSlash(list) })
	return p.Snapshot.List.Wording() + "." + print, written, index
}

// otherTrees returns the other work trees of the project's repository with files that were written since the loop
// began, but for those of lanes. It is not nil.
func (p *Picture) otherTrees(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	env, _ := p.environ()
	list := proc.Git(env, p.Loop.project(), "worktree", "list", "--porcelain", "-z")
	out, _ := proc.GitOutput(ctx, list, "worktree") // without a repository there are none
	own := loopdir.RepoRoot(p.Loop.project())
	trees := []string{}
	for _, line := range proc.GitTexts(out) {
		dir, is := strings.CutPrefix(line, "worktree ")
		dir = filepath.Clean(dir)
		lane := !loopdir.Protects(dir, p.Loop.Env.CacheDir) || !loopdir.Protects(dir, p.Loop.Env.StateDir)
		if !is || lane || dir == own || loopdir.RepoRoot(dir) != dir {
			continue
		}
		other := tree.Tree{Env: env, Dir: dir, Top: dir}
		if len(other.Modified(ctx, p.Snapshot.State.StartedAt)) > 0 {
			trees = append(trees, dir)
		}
	}
	return trees
}

// Contents returns the hash of what the copy is to have. Without a copy, or if that cannot be told, it is empty, so
// that everything is proven again.
func (p *Picture) Contents(ctx context.Context) string {
	if !p.HasCopy() {
		return ""
	}
	look, err := p.look(ctx, true)
	if err != nil { // a check that is to run there says what is wrong
		return ""
	}
	return look.ID
}

// treeToProve is tree without the list.
func (p *Picture) treeToProve() tree.Tree {
	t := p.tree()
	t.List, _ = features.SplitTag(p.Loop.workPath(p.ListPath()))
	return t
}
