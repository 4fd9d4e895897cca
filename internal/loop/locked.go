package loop

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/confine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/locked"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// What a trusted command does depends on files of the project. Those that "trust" finds are locked: they must stay as
// they were when a person trusted them.

// FindLocked returns what is locked under a configuration.
func (l *Loop) FindLocked(c config.Config) (*locked.Finder, error) {
	f := locked.New(l.At.Project, l.Env.Home, c)
	if loopdir.RepoRoot(l.At.Project) != "" {
		env := l.environ()
		f.Git = func(args ...string) int {
			return proc.Run(context.Background(), proc.Git(env, l.At.Project, args...)).ExitCode
		}
	}
	for _, command := range c.Notifiers {
		f.Programs(command, f.Scripts)
	}
	for _, command := range c.Source.Commands() {
		f.Programs(command, f.Sums)
	}
	c.Source = config.Source{}
	c.Notifiers = nil
	for _, command := range c.Commands() {
		f.Command(command)
	}
	t := l.treeWithoutList(c)
	if c.Room {
		files, _ := t.Files(context.Background())
		f.RoomTargets(files)
	}
	err := f.Protect(t)
	f.Finish()
	return f, errors.Join(f.Err, err)
}

// Changed returns the locked files that have changed, sorted. They are looked at anew.
func (p *Picture) Changed() []string {
	if p.Config.RoomTree != "" {
		var changed []string
		for _, command := range p.Config.Source.Commands() { // all others run in the room
			changed = append(changed, p.ChangedOf(command)...)
		}
		notShared := func(key string) bool { return !within(key, p.Config.Shared...) }
		shared := slices.DeleteFunc(slices.Sorted(maps.Keys(p.Config.Files)), notShared)
		return append(changed, p.changed(p.Config.Files, shared)...)
	}
	changed := p.changed(p.Config.Files, slices.Sorted(maps.Keys(p.Config.Files)))
	for i, key := range changed {
		if p.Config.Files[key] == "" {
			changed[i] = locked.AsNew(key)
		}
	}
	if !p.Config.ProtectNew || !p.Config.Trusted {
		return changed
	}
	return append(changed, locked.Added(p.treeToProve(), p.Config.Config, p.Config.Files)...)
}

// ChangedOf is Changed for the files that one command names.
func (p *Picture) ChangedOf(c config.Command) []string { return p.changedOf(c, p.Config.Files) }

// ChangedScripts returns the changed programs and scripts of a notifier.
func (p *Picture) ChangedScripts(c config.Command) []string { return p.changedOf(c, p.Config.Scripts) }

func (p *Picture) changedOf(c config.Command, sums map[string]string) []string {
	return p.changed(sums, locked.Keys(p.Loop.At.Project, p.Loop.Env.Home, c, sums))
}

func (p *Picture) changed(sums map[string]string, keys []string) (changed []string) {
	for _, key := range keys {
		if locked.Changed(p.Loop.project(), key, sums[key]) {
			changed = append(changed, key)
		}
	}
	return changed
}

// stamps returns when each locked file changed last.
func (p *Picture) stamps() map[string]string {
	all := map[string]string{}
	for key := range p.Config.Files {
		all[key] = p.stamp(key)
	}
	return all
}

// stamp returns the time of a file. Of a file of which a part is locked, it returns what is in that part.
func (p *Picture) stamp(key string) string {
	if locked.File(key) == key {
		return tree.Stamp(locked.At(p.Loop.project(), key))
	}
	return locked.Sum(p.Loop.project(), key)
}

// touchedSince returns a key whose stamp has changed; "" if none has.
func (p *Picture) touchedSince(before map[string]string) string {
	for key, was := range before {
		if p.stamp(key) != was {
			return key
		}
	}
	return ""
}

// PassedOver returns the folders in which "protect" holds nothing.
func (l *Loop) PassedOver(c config.Config) []string {
	found, _ := locked.FindProtected(l.treeWithoutList(c), c)
	return found.Passed
}

// WorkFiles is what "work" lets an agent do, or keeps it from doing, that a person may not expect.
type WorkFiles struct {
	Tests  []string // tests that the agent may edit
	Builds []string // build files that it may edit
	Unused []string // patterns that match no file
	Locks  []string // files of package managers that do not count, but what their manifests need does
}

// WorkFiles looks at the files of the project. It finds nothing without "work" and checks.
func (l *Loop) WorkFiles(c config.Config) (found WorkFiles) {
	if len(c.Work) == 0 || len(c.Checks) == 0 {
		return found
	}
	files, _ := l.treeWithoutList(c).Files(context.Background())
	for _, name := range files {
		_, known := locked.OnlyNeeds(name, nil, nil)
		manifest, isLock := config.Locks[path.Base(name)]
		switch {
		case isLock && !c.Grants(name):
			of := func(file string) bool {
				return path.Base(file) == manifest && strings.HasPrefix(file, strings.TrimSuffix(name, path.Base(name)))
			}
			if slices.ContainsFunc(files, func(file string) bool { return of(file) && c.Grants(file) }) {
				found.Locks = append(found.Locks, name)
			}
		case !c.Grants(name):
		case decide.IsTest(name):
			found.Tests = append(found.Tests, name)
		case config.BuildFile(name) && !known:
			found.Builds = append(found.Builds, name)
		}
	}
	for _, pattern := range c.Work {
		if !slices.ContainsFunc(files, pattern.Match) {
			found.Unused = append(found.Unused, pattern.Text)
		}
	}
	return found
}

// treeWithoutList returns the tree without the list, which is held by what it says.
func (l *Loop) treeWithoutList(c config.Config) tree.Tree {
	t := l.tree(l.environ())
	t.List, _ = features.Named(l.listPath(c))
	return t
}

// listPath returns the path of the list under a configuration.
func (l *Loop) listPath(c config.Config) string {
	recorded := ""
	if state, err := l.Store.State(); err == nil {
		recorded = state.List
	}
	return l.At.ListPath(c.List, recorded)
}

// Nobody may silence an ending by editing a notifier's script. So a copy of each script is kept
// beside the record. If the script has changed, the copy runs.

// maxScript is the largest script that is kept, in bytes.
const maxScript = 1 << 20

// SetTrust records what a person has trusted, and keeps copies of the notifiers' scripts. The caller holds the lock.
func (l *Loop) SetTrust(t config.Trust) error {
	if err := l.Store.SetTrust(t); err != nil {
		return err
	}
	texts := map[string][]byte{}
	for key := range t.Scripts {
		sum := locked.TextSum(t.Scripts[key])
		if sum == "" {
			continue
		}
		texts[scriptName(key, sum)] = nil
		text, err := loopdir.ReadAny(locked.At(l.At.Project, key), maxScript)
		if err == nil && locked.Digest(text) == sum {
			texts[scriptName(key, sum)] = text
		}
	}
	return l.Store.KeepScripts(texts)
}

// scriptName returns the name of the kept copy of a held file.
func scriptName(key, sum string) string { return sum[:16] + "-" + path.Base(key) }

// AsTrusted returns the command with the kept copies instead of the scripts that have changed. The
// result is false if that cannot be done.
func (p *Picture) AsTrusted(c config.Command) (config.Command, bool) {
	copies := map[string]string{} // by key
	for _, key := range p.ChangedScripts(c) {
		sum := locked.TextSum(p.Config.Scripts[key])
		if sum == "" {
			return c, false
		}
		kept := p.Loop.Store.ScriptPath(scriptName(key, sum))
		if now, _, err := locked.HashFile(kept); err != nil || now != sum {
			return c, false
		}
		copies[key] = kept
	}
	return locked.Replace(c, p.Loop.At.Project, p.Loop.Env.Home, copies)
}

// NewTrust returns a record of text as the ralph.json that a person trusts, with hashes of all
// that is held. If checks or an evaluator's command judge the features, the list is held too. The
// checks that the features bring are trusted only if own is set; they hold the list in any case.
func (l *Loop) NewTrust(text []byte, list decide.List, own bool) (config.Trust, error) {
	t := config.NewTrust(text, l.Env.Get("PATH"))
	kept := proc.Keep(l.Env.Vars, rand.Text())
	t.EnvValues = kept.Values
	t.EnvSums = kept.Sums
	t.EnvSalt = kept.Salt
	c, err := config.Parse(text)
	if err != nil {
		return t, fmt.Errorf("%s: %w", loopdir.ConfigFile, err)
	}
	named := slices.Clone(c.Env)
	for _, command := range c.Notifiers {
		named = append(named, command.Env...)
	}
	for _, name := range named {
		if why := notByName(name); why != "" {
			return t, fmt.Errorf(`%s: "env" names %s, %s; take it out`, loopdir.ConfigFile, plain.Line(name, 80), why)
		}
	}
	if c.Confine {
		if err := confine.Available(); err != nil {
			return t, fmt.Errorf("%s: %w", loopdir.ConfigFile, err)
		}
		t.Folders, err = loopdir.WritableFolders(c.Writable, l.Env.Home, l.Env.StateDir)
		if err != nil {
			return t, fmt.Errorf("%s: %w", loopdir.ConfigFile, err)
		}
	}
	checks := config.ListChecks(list.Items...)
	of := c
	if !c.Source.Given() { // what a tracker says is no check
		of.Checks = slices.Concat(c.Checks, checks)
	}
	if own {
		c = of
		t.ListChecks = len(checks) > 0
	}
	t.Rules = l.ignoreRules(c)
	if c.Room {
		if err := l.trustRoom(c, &t); err != nil {
			return t, err
		}
	}
	f, err := l.FindLocked(c)
	t.Files, t.Scripts = f.Sums, f.Scripts
	t.Targets = f.Targets
	t.Included = f.Included
	if err == nil {
		err = holdList(&t, of, list)
	}
	if err != nil || !of.HoldsList() {
		return t, err
	}
	return t, list.Err
}

// holdList makes a list part of the contract, if there is one. It refuses an ambiguous list,
// and checks that do not fit the list.
func holdList(t *config.Trust, c config.Config, list decide.List) error {
	if key, where := list.Twice(); key != "" {
		return fmt.Errorf("%s has the key %q twice; leave one of them", where, plain.Line(key, 80))
	}
	if !c.HoldsList() {
		return nil
	}
	if len(list.Items) > 0 { // else a tracker was not asked yet
		t.SetList(list.Text())
	}
	for _, check := range c.Checks {
		for _, id := range check.Features {
			if _, has := list.Find(id); !has && len(list.Items) > 0 {
				return fmt.Errorf("%s: the check %s is for the feature %q, which the list does not have",
					loopdir.ConfigFile, plain.Line(check.Name, 80), plain.Line(id, 80))
			}
		}
		if !check.PerClaim || check.FromList || !check.Runs() {
			continue
		}
		for _, item := range list.Items {
			if err := config.CheckID(item.ID); err != nil && check.IsFor(item.ID) {
				return fmt.Errorf("the check %s gets the id of each feature, and %w", plain.Line(check.Name, 80), err)
			}
		}
	}
	return nil
}

// untrustedSinceStart keeps the untrusted checks to those that the loop had when it started. What the list brings later
// may come from an agent, and is no check. If an agent took the last one out, where nothing keeps it from that, one is
// missing all the same. The result is the name of the first one; "" if there is none.
func (p *Picture) untrustedSinceStart() (name string) {
	state, c := &p.Snapshot.State, &p.Config
	isUntrusted := func(check config.Check) bool { return check.Untrusted }
	fromList := func(check config.Check) bool { return check.FromList && check.Untrusted }
	switch {
	case state.StartedAt.IsZero():
	case state.UntrustedCheck == "":
		c.Checks = slices.DeleteFunc(c.Checks, fromList)
	case !c.Trusted && !slices.ContainsFunc(c.Checks, isUntrusted):
		missing := decide.Check{Name: state.UntrustedCheck, Digest: "untrusted", When: decide.WhenEnd}
		c.Checks = append(c.Checks, config.Check{Check: missing, Command: config.Command{Untrusted: true}})
		c.Untrusted++
	}
	i := slices.IndexFunc(c.Checks, isUntrusted)
	if i < 0 {
		return ""
	}
	return plain.Line(c.Checks[i].Name, 280)
}

// holdFirst holds the list as it is now, if it has checks and had none when a person trusted the loop. The
// caller holds the lock. It reports whether it has changed the record.
func (p *Picture) holdFirst() (changed bool, err error) {
	if !p.Unheld() || p.Snapshot.List.Err != nil {
		return false, nil
	}
	record := p.Config.Trust
	if err := holdList(&record, p.Config.Config, p.Snapshot.List); err != nil {
		p.Snapshot.ConfigErr = err
		return false, nil
	}
	return true, p.Loop.Store.SetTrust(record)
}

// Unheld reports whether the list should be held and is not, because it had no checks when a person
// trusted the loop.
func (p *Picture) Unheld() bool {
	c := &p.Config
	return c.Trusted && !c.Revoked && c.ListSHA256 == "" && !c.Source.Given() && c.HoldsList()
}

// TrustSource adds the tracker's items to a record that is about to be trusted.
func (l *Loop) TrustSource(ctx context.Context, c config.Config, record config.Trust) (
	config.Trust, decide.List, error) {
	p := &Picture{Loop: l, Config: config.Effective{Config: c, Trust: record, Trusted: true}}
	err := p.askAnew(ctx, LockWait, true)
	list := p.Snapshot.List
	err = cmp.Or(err, list.Err)
	if err != nil {
		return record, list, err
	}
	record, err = l.NewTrust([]byte(record.Text), list, false)
	return record, list, err
}

// keepReceipts stores results beside those that the loop has by now, under the lock.
func (l *Loop) keepReceipts(results []decide.Receipt) error {
	p, err := l.Look()
	if err != nil {
		return err
	}
	p.Snapshot.Results = results
	state := p.Snapshot.State
	still := p.Snapshot.StillProven()
	if state.Status == decide.Complete && state.Proven != still {
		state.Proven = still
		err = l.Store.SaveState(state)
	}
	return errors.Join(err, l.Store.SetReceipts(p.Snapshot.ReceiptsToStore()))
}
