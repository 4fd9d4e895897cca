//go:build unix

package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/engine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run"
)

// The server loses what a session begins with, before a worker has fetched it. The worker gives the session back, and
// the run stores that again.
func TestBasesLost(t *testing.T) {
	w := newWorld(t)
	worker := w.join("w")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	ended := make(chan run.Worked, 1)
	go func() { ended <- w.session(ctx, "a") }()
	lost := false
	for {
		c, err := worker.Take(ctx)
		w.ok(err)
		var o order
		w.ok(json.Unmarshal(c.Body, &o))
		for _, name := range append(o.Bases, o.ListText) {
			if !lost {
				w.ok(w.hands.engine.DropBase(ctx, name))
			}
			if e := c.Base(ctx, name, io.Discard, engine.MaxBases); e != nil {
				err = e
			}
		}
		if !lost && !errors.Is(err, engine.ErrMissing) {
			t.Fatalf("control: what is lost can be fetched: %v", err)
		}
		lost = true
		if err != nil {
			w.ok(c.Drop(ctx, err.Error(), true))
			time.Sleep(100 * time.Millisecond) // a worker waits, too
			continue
		}
		r, all := honest(w, o)
		said, err := json.Marshal(r)
		w.ok(err)
		w.ok(c.Submit(ctx, said, bytes.NewReader(hostile.Bundle(o.Commit, all...))))
		break
	}
	if got := <-ended; got.Class != agent.Done || !w.passes() {
		t.Errorf("the session ends as %s: %s", got.Class, got.Problem)
	}
}
