package main

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

// A list may be what a tracker's commands print. They run without the lock; what
// they have said is kept beside the record, so that an item that is not printed any
// more is missed.

// askList has the tracker print its items. An error is for a person to mend: no
// agent repairs a command.
func (r *runner) askList(ctx context.Context) decide.List {
	src := r.config.Source
	known, err := r.Source()
	var text []byte
	if err == nil {
		text, err = r.track(ctx, src.List)
	}
	if err == nil {
		text, err = features.Track(known, text, func(id string) []byte {
			if len(src.Show.Argv) == 0 {
				return nil
			}
			begin := time.Now()
			var shown []byte
			one, err := src.Show.For(id)
			if err == nil {
				shown, err = r.track(ctx, one)
			}
			if err != nil { // which leaves it unknown
				r.LogChecks(wordsLogAnswer(begin, one.String(), err.Error()))
			}
			return shown
		})
	}
	if err == nil {
		err = r.SetSource(text)
	}
	if err != nil {
		return decide.List{Err: fmt.Errorf("%s: %w", plain.Line(r.listName(), 200), err)}
	}
	list, err := features.Parse(text)
	if err != nil && !errors.Is(err, features.ErrEmpty) {
		err = fmt.Errorf("%s: %v", plain.Line(r.listName(), 200), err) // of a text that nobody sees
	}
	return decide.List{List: list, Err: err}
}

// reopenItems has the tracker open items again.
func (r *runner) reopenItems(ctx context.Context, ids []string) (all error) {
	command := r.config.Source.Reopen
	if len(command.Argv) == 0 {
		return errors.New(`"source" has no "reopen"`)
	}
	for _, id := range ids {
		one, err := command.For(id)
		if err == nil {
			_, err = r.track(ctx, one)
		}
		all = errors.Join(all, err)
	}
	return all
}

// track runs one of the tracker's commands and returns what it prints.
func (r *runner) track(ctx context.Context, c config.Command) ([]byte, error) {
	passOnPipe()
	text, err := r.output(ctx, c, r.config.Source.Untrusted, nil, features.MaxBytes)
	if len(text) >= features.MaxBytes {
		return nil, fmt.Errorf("it printed more than %d MB", features.MaxBytes>>20)
	}
	return text, err
}

// freshen asks the tracker anew for a verb, where there is one.
func (l *loaded) freshen() {
	if l.snap.Unlisted {
		r := runner{loaded: l, deadline: time.Now().Add(maxSend)}
		l.snap.List, l.snap.Unlisted = r.askList(context.Background()), false
		l.snap.Lost = l.lost()
	}
}

// lost returns the features that are not as a person trusted them.
func (l *loaded) lost() []string {
	if l.snap.List.Err != nil || len(l.config.Features) == 0 {
		return nil
	}
	return l.snap.List.Lost(l.config.Features)
}
