package verb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Trust accepts a loop's ralph.json and list.
func (v Verbs) Trust() *cobra.Command {
	var yes, revoked bool
	const short = "Accept a loop's ralph.json and list as they are now"
	cmd := v.Loop("trust", short, func(w io.Writer, l *loop.Loop) error {
		if err := v.PersonFor(l); err != nil {
			return err
		}
		if revoked {
			return revoke(w, l)
		}
		t, err := newTruster(w, l)
		if err != nil {
			return err
		}
		return t.trust(yes)
	})
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&revoked, "revoke", false,
		"revoke trust: no command of the loop runs; limits and list stay")
	return cmd
}

// OfferTrust shows a person at a terminal a list that brings checks which nobody has trusted, or that is not as it was
// trusted, as part of what 'trust' shows, and asks. After a no, the loop works the list that was trusted; without its
// checks it does not end COMPLETE.
func (v Verbs) OfferTrust(w io.Writer, l *loop.Loop) error {
	p, err := l.Look()
	if err != nil || !l.Store.Protected || p.Config.Revoked || !cli.CanAsk() || v.PersonFor(l) != nil {
		return err
	}
	what, otherwise := "", "the loop works the list that was trusted"
	switch {
	case p.Config.UntrustedOfList > 0 && p.Snapshot.Record().Status.GoesOn():
		what = fmt.Sprintf("The list brings %s of its own:", plain.Count(p.Config.UntrustedOfList, "check"))
		otherwise = "without these checks the loop does not end COMPLETE"
	case differs(p.Snapshot.List):
		what = "The list is not as it was trusted:"
	default:
		return nil
	}
	t, err := newTruster(w, l)
	if err == nil {
		fmt.Fprintf(w, "\n%s\n", what)
		err = t.trust(false)
	}
	if errors.As(err, new(cli.Refusal)) {
		fmt.Fprintf(w, "%v; %s\n", err, otherwise)
		return nil
	}
	return err
}

// differs reports whether a list that was trusted has other features by now, or asks for something else.
func differs(l decide.List) bool {
	isAdded := func(item features.Item) bool { return item.IsAdded }
	return !l.Missing && (len(l.Changes) > 0 || slices.ContainsFunc(l.Items, isAdded))
}

type truster struct {
	w      io.Writer
	l      *loop.Loop
	text   []byte // of ralph.json
	config config.Config
	path   string // of the list
}

func newTruster(w io.Writer, l *loop.Loop) (*truster, error) {
	text, err := l.Store.Config()
	if err != nil {
		return nil, err
	}
	if text == nil {
		text, err = putBack(w, l)
		if err != nil {
			return nil, err
		}
	}
	c, err := config.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", loopdir.ConfigFile, err)
	}
	state, err := l.Store.State()
	if err != nil {
		return nil, err
	}
	return &truster{w, l, text, c, l.At.ListPath(c.List, state.List)}, nil
}

// putBack writes ralph.json as it was trusted, and returns it. A loop that had none may have a list with checks of its
// own.
func putBack(w io.Writer, l *loop.Loop) ([]byte, error) {
	none := []byte("{}")
	before, err := l.Store.Trust()
	if err != nil {
		return nil, fmt.Errorf("%s is gone, and %w; to start anew: ralph-stop-hook init %s --force",
			loopdir.ConfigFile, err, plain.Arg(name(l)))
	}
	if before == nil || before.Text == string(none) {
		return none, nil
	}
	text := []byte(before.Text)
	write := func() error { return l.Store.WriteFile(loopdir.ConfigFile, text) }
	if err := l.Store.Locked(loop.LockWait, write); err != nil {
		return nil, fmt.Errorf("%s cannot be put back: %w", loopdir.ConfigFile, err)
	}
	fmt.Fprintf(w, "%s was gone; it is there again, as it was trusted\n", loopdir.ConfigFile)
	return text, nil
}

// reading is how the list is read under the ralph.json that is to be trusted.
func (t *truster) reading() features.Reading {
	return features.Reading{Skip: t.config.SkipHeadings, Now: time.Now()}
}

// trust shows what a person is about to trust, asks, and records it.
func (t *truster) trust(yes bool) error {
	asks := !yes && cli.CanAsk()
	if !yes && !asks {
		fmt.Fprintln(t.w, "there is no terminal to ask at, so this only shows what would be trusted")
	}
	source := t.config.Source.IsSet()
	list := decide.List{}
	if source {
		t.path = ""
	} else if !t.config.NoList() {
		list = t.l.Store.List(t.path, t.reading())
	}
	record, err := t.l.NewTrust(t.text, list, true)
	if err != nil {
		return err
	}
	before, err := t.l.Store.Trust()
	if err != nil { // a new record replaces it
		fmt.Fprintf(t.w, "warning: %s; what has changed since it was trusted cannot be shown, so look at that first, "+
			"as with: git diff\n", plain.Line(err.Error(), 1000))
	}
	t.show(record, before, list)
	if record.ListSHA256 != "" {
		fmt.Fprintf(t.w, "taken as they are: %s of %s\n",
			plain.Count(len(list.Items), "feature"), plain.Path(t.l.At.Project, t.path))
	}
	switch {
	case yes:
	case !asks:
		return fmt.Errorf("nothing was trusted: there is no terminal to ask at; to accept what is listed: %s --yes",
			t.l.Call("trust"))
	default:
		refused := "nothing was trusted"
		if before != nil {
			refused += "; the earlier trust stays in force"
		}
		if err := cli.Confirm(t.w, "trust this?", refused); err != nil {
			return err
		}
	}
	if source { // the tracker's commands may run now
		record, list, err = t.l.TrustSource(background(), t.config, record)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.w, "the tracker lists %s, %d of them pass\n", plain.Count(len(list.Items), "feature"), list.Passed())
	}
	set := func() error { return t.l.SetTrust(record) }
	if err := t.l.Store.Locked(loop.LockWait, set); err != nil {
		return err
	}
	fmt.Fprintf(t.w, "%s: trusted; these settings are now in force\n", name(t.l))
	if err := RewritePrompt(t.l, before); err != nil {
		fmt.Fprintf(t.w, "warning: %s does not name what is protected now: %v\n", loopdir.PromptFile, err)
	}
	DryRun(t.w, t.l)
	return nil
}

// RewritePrompt has RALPH_PROMPT.md name what is protected now and where the list is, in the place of our own words
// about what was trusted before; nil: nothing was. It leaves a person's words as they are. A loop need not have that
// file.
func RewritePrompt(l *loop.Loop, before *config.Trust) error {
	const maxPrompt = 1 << 20
	prompt, err := loopdir.ReadFile(l.At.Dir, loopdir.PromptFile, maxPrompt)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	record, err := l.Store.Trust()
	if err != nil || record == nil {
		return err
	}
	trusted, err := config.Parse([]byte(record.Text))
	if err != nil {
		return err
	}
	was, now, text := "", say.Counts(trusted), string(prompt)
	if before != nil {
		c, err := config.Parse([]byte(before.Text))
		if err != nil {
			return err
		}
		was = say.Counts(c)
		text = say.RenameList(text, l.At, c, trusted)
	}
	text = say.Reword(text, was, now)
	if text == string(prompt) {
		return nil
	}
	return l.Store.Locked(loop.LockWait, func() error {
		return l.Store.WriteFile(loopdir.PromptFile, []byte(text))
	})
}

// revoke takes trust back.
func revoke(w io.Writer, l *loop.Loop) error {
	err := l.Store.Locked(loop.LockWait, func() error {
		record, err := l.Store.Trust()
		if err != nil {
			return fmt.Errorf("%w, so no command of the loop runs", err)
		}
		if record == nil {
			return nil
		}
		record.Revoked = true
		return l.Store.SetTrust(*record)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: no command is trusted any more\n", name(l))
	return nil
}
