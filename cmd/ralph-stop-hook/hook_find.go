package main

import (
	"os"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// where is what the search for the event's loop starts from.
func (h *hook) where() loopdir.Where {
	w := where()
	w.LoopDir, w.Session, w.ProjectDir = h.loopDir, h.event.SessionID, os.Getenv("CLAUDE_PROJECT_DIR")
	if h.event.Cwd != "" {
		w.Cwd = h.event.Cwd
	}
	return w
}

// findOwn returns the loop that the session works, open.
func (h *hook) findOwn() (*loaded, error) {
	l, err := h.where().Own()
	if l == nil && err == nil && h.event.Name != decide.PromptSubmit {
		l, err = loopdir.Find(h.where()) // where no file could be written for the session
	}
	if l == nil || err != nil {
		return nil, err
	}
	return h.open(l)
}

// findMarked returns the loop that a person's prompt names, or the session's own.
func (h *hook) findMarked() (*loaded, error) {
	if !h.event.Typed() {
		return nil, nil
	}
	l, err := h.where().Marked(h.event.Prompt)
	if err != nil {
		return nil, err
	}
	if l == nil {
		return h.findOwn()
	}
	h.marked = true
	return h.open(l)
}

// findCleared returns the loop whose session the host's process worked before
// its /clear, which gave it another id.
func (h *hook) findCleared() (*loaded, error) {
	loops, err := h.where().All()
	for _, l := range loops {
		if l.Check() != nil {
			continue // its own events say so
		}
		peeked, err := h.open(l)
		if err == nil && !decide.Bystander(&peeked.snap) {
			return peeked, nil
		}
		if peeked != nil {
			peeked.Close()
		}
	}
	return nil, err
}

// open opens a loop, with what a bystander is known by.
func (h *hook) open(l *loopdir.Loop) (*loaded, error) {
	store, err := l.Open()
	if err != nil {
		return nil, err
	}
	peeked, err := peek(store, h.event, h.begin)
	peeked.snap.Marked = h.marked
	switch {
	case err == nil:
		return peeked, nil
	case l.Bound:
		h.store = store // ours for certain: its trouble is an ending
	default:
		store.Close()
	}
	return nil, err
}

// find returns the stop's loop. A session whose own loop is over may work the
// one of `current`; one whose own goes on stays with it, whatever the environment
// names, which an agent can set in the settings.
func (h *hook) find() (*loaded, error) {
	w := h.where()
	if h.loopDir != "" && h.loopDir == os.Getenv("RALPH_LOOP_DIR") {
		own, err := w.Own()
		if err != nil {
			return nil, err // what another loop says would hide it
		}
		if own != nil {
			peeked, err := h.open(own)
			if err != nil || peeked.snap.State.Status == decide.InProgress {
				return peeked, err
			}
			peeked.Close()
		}
	}
	l, err := loopdir.Find(w)
	if l == nil || err != nil {
		return nil, err
	}
	peeked, err := h.open(l)
	if err != nil {
		return nil, err
	}
	if state := peeked.snap.State; l.Bound && state.Status != decide.InProgress && state.Status != decide.Paused && state.Status != decide.Interrupted {
		if other, err := w.Current(); err == nil && other != nil && other.Dir != l.Dir {
			peeked.Close()
			return h.open(other)
		}
	}
	return peeked, nil
}

// leaveOther lets go of the loop that the session worked before it took this
// one. It holds no other lock meanwhile.
func (h *hook) leaveOther() {
	if h.left == nil || h.left.Dir == h.store.Dir {
		return
	}
	s, err := h.left.Open()
	if err != nil {
		return
	}
	defer s.Close()
	// Where it cannot be let go it still finds its owner by the prompt, later.
	_ = locked(s, func() error {
		state, err := s.State()
		if err != nil || state.Session != h.event.SessionID {
			return err
		}
		state.Release()
		return s.SaveState(state)
	})
}
