package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// A tracker's commands can print the list. Their output is kept beside the record, so that an item which is no longer
// printed is missed.

// AskTracker reads the list anew for a verb, if a tracker has it.
func (p *Picture) AskTracker(ctx context.Context) {
	if p.Snapshot.ListIsOld && p.askAnew(ctx, 0, false) != nil {
		list := p.Loop.Store.SourceList(p.Snapshot.Now) // while checks run, what it said last has to do
		p.Snapshot.List = p.underContract(list)
	}
}

// askAnew reads the list anew for a verb. If first is set, it asks the tracker as if for the first
// time.
func (p *Picture) askAnew(ctx context.Context, wait time.Duration, first bool) error {
	r := checker{Picture: p, deadline: time.Now().Add(maxSend)}
	ask := func() {
		ctx, stop := r.withDeadline(ctx)
		defer stop()
		p.Snapshot.List = r.askTracker(ctx)
		p.Snapshot.ListIsOld = false
	}
	if !p.runsCommands(decide.Need{Kind: decide.NeedList}) {
		ask() // which says why it cannot
		return nil
	}
	return p.Loop.Store.Locked(wait, func() error {
		if first {
			p.Loop.Store.ForgetSource()
		}
		changed, err := p.Loop.keeping(p.Snapshot.State.Session, ask)
		switch {
		case err != nil:
			return err
		case changed != "":
			return r.wroteRecord(changed)
		}
		r.keepSource(&p.Snapshot.List)
		p.Snapshot.List = p.underContract(p.Snapshot.List)
		return nil
	})
}

// keepSource stores what the tracker printed, under the lock.
func (r *checker) keepSource(list *decide.List) {
	if r.source == nil {
		return
	}
	if err := r.Loop.Store.SetSource(r.source); err != nil {
		*list = decide.List{Err: fmt.Errorf("%s: %w", plain.Line(r.ListName(), 200), err)}
	}
}

// askTracker asks the tracker for its items. A person must fix an error: no agent repairs a
// command.
func (r *checker) askTracker(ctx context.Context) decide.List {
	known, err := r.Loop.Store.Source()
	var text []byte
	if err == nil {
		text, err = r.track(ctx, r.Config.Source.List)
	}
	if err == nil {
		text, err = features.Track(known, text, func(id string) []byte { return r.showItem(ctx, id) })
	}
	name := plain.Line(r.ListName(), 200)
	if err != nil {
		return decide.List{Err: fmt.Errorf("%s: %w", name, err)}
	}
	r.source = text
	list, err := features.Reading{Now: time.Now()}.Parse(text)
	if err != nil && !errors.Is(err, features.ErrEmpty) {
		err = fmt.Errorf("%s: %v", name, err) // its line and column are of a text that nobody sees
	}
	return decide.List{List: list, Err: err}
}

// showItem asks the tracker for one item; nil leaves the item unknown.
func (r *checker) showItem(ctx context.Context, id string) []byte {
	show := r.Config.Source.Show
	if len(show.Argv) == 0 {
		return nil
	}
	begin := time.Now()
	var shown []byte
	one, err := show.WithID(id)
	if err == nil {
		shown, err = r.track(ctx, one)
	}
	if err != nil {
		r.Loop.logRan(begin, Ran{Check: one.String(), Outcome: err.Error(), ExitStatus: -1}, nil)
	}
	return shown
}

func (r *checker) reopenItems(ctx context.Context, ids []string) (all error) {
	command := r.Config.Source.Reopen
	if len(command.Argv) == 0 {
		return errors.New(`"source" has no "reopen"`)
	}
	for _, id := range ids {
		one, err := command.WithID(id)
		if err == nil {
			_, err = r.track(ctx, one)
		}
		all = errors.Join(all, err)
	}
	return all
}

// reopenTracked opens items of the tracker again for a verb or a host.
func (p *Picture) reopenTracked(ctx context.Context, ids []string) (failed error) {
	r := checker{Picture: p, deadline: time.Now().Add(maxSend)}
	err := p.Loop.Store.Locked(maxSend, func() error {
		changed, err := p.Loop.keeping(p.Snapshot.State.Session, func() { failed = r.reopenItems(ctx, ids) })
		if err == nil && changed != "" {
			err = r.wroteRecord(changed)
		}
		return err
	})
	return errors.Join(err, failed)
}

// wroteRecord is the error of a tracker's command that ran while a file of the record was changed.
func (r *checker) wroteRecord(changed string) error {
	return fmt.Errorf("%s: %s", plain.Line(r.ListName(), 200), recordTouched(changed))
}

func (r *checker) track(ctx context.Context, c config.Command) ([]byte, error) {
	return r.output(ctx, c, nil, features.MaxBytes)
}
