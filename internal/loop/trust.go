package loop

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/confine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// SetTrust records what a person has trusted. The caller holds the lock.
func (l *Loop) SetTrust(t config.Trust) error {
	before, beforeErr := l.Look()
	err := l.Store.SetTrust(t)
	if err != nil {
		return err
	}
	l.pruneBaselines(t)
	now, err := l.Look()
	if err != nil || beforeErr != nil || now.Snapshot.State.Status != decide.Complete {
		return nil // there is nothing to count anew, or other words say what is wrong
	}
	isNew := func(c decide.Check) bool {
		return !slices.ContainsFunc(before.Snapshot.Checks, func(old decide.Check) bool { return old.Digest == c.Digest })
	}
	if !slices.ContainsFunc(now.Snapshot.Checks, isNew) {
		return nil
	}
	state := now.Snapshot.State
	state.Proven = now.Snapshot.Proven()
	return l.Store.SaveState(state)
}

// NewTrust returns a record of text as the ralph.json that a person trusts, with a baseline if something runs in a
// copy. If checks or an evaluator's command judge the features, the list is held too. The checks that the features
// bring are trusted only if own is set; they hold the list in any case.
func (l *Loop) NewTrust(text []byte, list decide.List, own bool) (config.Trust, error) {
	return l.newTrust(text, list, own, true)
}

// WithConfig returns a record with another text of ralph.json, on the baseline that it has. If it held no list so far,
// and the text has checks, it holds the list as it is now.
func (l *Loop) WithConfig(record config.Trust, text []byte, list decide.List) (config.Trust, error) {
	c, err := config.Parse(text)
	if err != nil {
		return record, fmt.Errorf("%s: %w", loopdir.ConfigFile, err)
	}
	now := record.WithText(text)
	err = holdList(&now, c, list)
	if record.ListSHA256 != "" {
		now.ListSHA256 = record.ListSHA256
		now.ListText = record.ListText
	}
	return now, err
}

// CheckTrust returns the error that NewTrust would return, as far as that can be told without taking a baseline.
func (l *Loop) CheckTrust(text []byte, list decide.List) error {
	_, err := l.newTrust(text, list, false, false)
	return err
}

func (l *Loop) newTrust(text []byte, list decide.List, own, keeps bool) (config.Trust, error) {
	t := config.NewTrust(text, l.Env.Get("PATH"))
	kept := proc.FingerprintEnv(l.Env.Vars, rand.Text())
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
	if !c.Source.IsSet() { // what a tracker says is no check
		of.Checks = slices.Concat(c.Checks, checks)
	}
	if own {
		c = of
		t.ListChecks = len(checks) > 0
	}
	t.Rules = l.ignoreRules()
	if c.NeedsBaseline() {
		if err := l.takeBaseline(c, &t, keeps); err != nil {
			return t, err
		}
	}
	err = holdList(&t, of, list)
	if err != nil || !of.HoldsList() {
		return t, err
	}
	return t, list.Err
}

// holdList makes a list part of the contract, if there is one. It refuses an ambiguous list,
// and checks that do not fit the list.
func holdList(t *config.Trust, c config.Config, list decide.List) error {
	if key, id := list.DuplicateKey(); key != "" {
		return fmt.Errorf("the feature %s has the key %q twice; remove one", plain.Line(id, 80), plain.Line(key, 80))
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
				return fmt.Errorf("%s: the check %s is for the feature %q, which is not in the list",
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
	c := &p.Config
	isDue := c.Trusted && !c.Revoked && c.ListSHA256 == "" && !c.Source.IsSet() && c.HoldsList()
	if !isDue || p.Snapshot.List.Err != nil {
		return false, nil
	}
	record := c.Trust
	if err := holdList(&record, c.Config, p.Snapshot.List); err != nil {
		p.Snapshot.ConfigErr = err
		return false, nil
	}
	return true, p.Loop.Store.SetTrust(record)
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
