package loop

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/confine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/held"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// NewTrust returns a record of text as the ralph.json that a person trusts, with hashes of all
// that is held. If checks or an evaluator's command judge the features, the list is held too. The
// checks that the features bring are trusted only if own is set.
func (l *Loop) NewTrust(text []byte, list decide.List, own bool) (config.Trust, error) {
	t := config.NewTrust(text, l.Env.Get("PATH"))
	kept := proc.Keep(l.Env.Vars, rand.Text())
	t.EnvValues, t.EnvSums, t.EnvSalt = kept.Values, kept.Sums, kept.Salt
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
		if t.Folders, err = loopdir.WritableFolders(c.Writable, l.Env.Home, l.Env.StateDir); err != nil {
			return t, fmt.Errorf("%s: %w", loopdir.ConfigFile, err)
		}
	}
	if own {
		checks, manual := held.ListChecks(l.Env.Get("PATH"), list)
		c.Checks, t.NotCommands, t.ListChecks = append(c.Checks, checks...), manual, len(checks) > 0
	}
	t.Rules = l.tree(l.environ()).IgnoreRules(context.Background())
	h, err := l.heldFiles(c)
	if t.Files = h.Sums; len(h.Calls) > 0 {
		t.Calls = h.Calls
	}
	if err == nil {
		err = holdList(&t, c, list)
	}
	if err != nil || !c.HoldsList() {
		return t, err
	}
	return t, list.Err
}

// holdList records what a list asks for, if the list is to be held. It refuses an ambiguous list,
// and checks that do not fit the list.
func holdList(t *config.Trust, c config.Config, list decide.List) error {
	if key, where := list.Twice(); key != "" {
		return fmt.Errorf("%s has the key %q twice; leave one of them", where, plain.Line(key, 80))
	}
	if !c.HoldsList() {
		return nil
	}
	t.Features, t.Beside = map[string]string{}, list.Beside()
	for _, item := range list.Items {
		t.Features[item.ID] = item.Identity()
	}
	for _, check := range c.Checks {
		for _, id := range check.Features {
			if _, has := list.Find(id); !has && len(list.Items) > 0 {
				return fmt.Errorf("%s: the check %s is for the feature %q, which the list does not have",
					loopdir.ConfigFile, plain.Line(check.Name, 80), plain.Line(id, 80))
			}
		}
		if check.When != decide.WhenFeature || check.FromList || !check.Runs() {
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

// holdFirst holds the list as it is now, if there was none when a person trusted the checks. The
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
	return true, p.Loop.Store.SetTrust(record, p.ListPath())
}

// Unheld reports whether the list should be held and is not, because there was none when a person
// trusted the checks.
func (p *Picture) Unheld() bool {
	c := &p.Config
	return c.Trusted && !c.Revoked && len(c.Features) == 0 && !c.Source.Given() && c.HoldsList()
}

// TrustSource adds the tracker's items to a record that is about to be trusted.
func (l *Loop) TrustSource(ctx context.Context, c config.Config, record config.Trust) (
	config.Trust, decide.List, error) {
	p := &Picture{Loop: l, Config: config.Effective{Config: c, Trust: record, Trusted: true}}
	err := p.askAnew(ctx, LockWait, true)
	list := p.Snapshot.List
	if err = cmp.Or(err, list.Err); err != nil {
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
	return l.Store.SetReceipts(p.Snapshot.ReceiptsToStore())
}
