package page

import (
	"context"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// staleness remembers which proofs are stale. To know that, the whole work tree is hashed.
type staleness struct {
	mu    sync.Mutex
	known map[string]staleAt // by the loop's key
}

type staleAt struct {
	at    time.Time
	items map[string]bool // by id
}

// hashEvery is how often the work tree of a loop that is looked at is hashed.
const hashEvery = 20 * time.Second

func (s *staleness) open(ctx context.Context, env loop.Env, l *watch.Loop) (*watch.Detail, error) {
	s.mu.Lock()
	known, is := s.known[l.Key]
	hash := !is || time.Since(known.at) > hashEvery
	if hash { // the next request need not do it, too
		known.at = time.Now()
		s.known[l.Key] = known
	}
	s.mu.Unlock()
	d, err := watch.Open(ctx, env, l.Loop, hash)
	if err != nil {
		return nil, err
	}
	if hash {
		now := staleAt{time.Now(), map[string]bool{}}
		for _, item := range d.Items {
			if item.State == watch.Stale {
				now.items[item.ID] = true
			}
		}
		s.mu.Lock()
		s.known[l.Key] = now
		s.mu.Unlock()
		return d, nil
	}
	for i, item := range d.Items {
		if item.State == watch.Proven && known.items[item.ID] {
			d.Items[i].State = watch.Stale
		}
	}
	return d, nil
}
