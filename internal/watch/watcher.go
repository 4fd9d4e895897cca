package watch

import (
	"cmp"
	"context"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

const (
	// poll is how often the files of the loops are looked at. Notices of the system come sooner, but not on each system
	// and not of each file system, and to look costs less than to read a loop at each of them.
	poll = time.Second
	// sweep is how often loops are looked for where no folder says that there are others.
	sweep = 10 * time.Second
	// settle is how long after a change the time of a file may not tell the next one.
	settle = 200 * time.Millisecond
)

// Watcher keeps a picture up to date. Its memory depends on how many loops there are, and not on how often they change:
// a reader that is slow misses pictures, and never the last one.
type Watcher struct {
	Changes chan struct{} // gets a value after the picture has changed, if the reader has taken the one before

	env     loop.Env
	folders []string
	picture atomic.Pointer[Picture]

	// Only New and Run use what follows.
	known map[string]*known // by key
	swept time.Time         // when loops were looked for last
	roots stamp             // of the folders in which loops and records come and go, as they were then
}

// known is a loop that the watcher has read.
type known struct {
	at    *loopdir.Loop
	files []string // of the loop, its list first
	stamp stamp
	loop  Loop
	procs []proc.Process // of the loop, when it was read
	ended []proc.Process // those that had ended before the last reading: what ends during it is seen at the next
}

// New reads all loops, as Look does. Run keeps the picture up to date.
func New(env loop.Env, folders ...string) (*Watcher, error) {
	w := &Watcher{env: env, folders: folders, known: map[string]*known{}, Changes: make(chan struct{}, 1)}
	_, err := w.rescan()
	w.publish()
	return w, err
}

// Picture returns the last picture.
func (w *Watcher) Picture() *Picture { return w.picture.Load() }

// publish makes the picture of what is known, and tells the reader.
func (w *Watcher) publish() {
	loops := make([]Loop, 0, len(w.known))
	for _, k := range w.known {
		loops = append(loops, k.loop)
	}
	slices.SortFunc(loops, func(a, b Loop) int {
		return cmp.Or(a.Rank()-b.Rank(), b.ChangedAt.Compare(a.ChangedAt), strings.Compare(a.Name, b.Name),
			strings.Compare(a.Key, b.Key))
	})
	w.picture.Store(&Picture{Loops: loops})
	select {
	case w.Changes <- struct{}{}:
	default: // nobody has taken the last one yet
	}
}

// Run follows the files until ctx ends. It may be called once.
func (w *Watcher) Run(ctx context.Context) {
	t := time.NewTicker(poll)
	defer t.Stop()
	for ctx.Err() == nil {
		w.look() // at first, what has changed since New
		select {
		case <-ctx.Done():
		case <-t.C:
		}
	}
}

// look reads the loops again whose files have changed. It looks for loops if there may be others.
func (w *Watcher) look() {
	if time.Since(w.swept) > sweep || !slices.Equal(w.stampOfRoots(), w.roots) {
		w.sweep()
	} else if w.refresh() {
		w.publish()
	}
}

// stampOfRoots returns the stamp of the folders in which loops and records come and go.
func (w *Watcher) stampOfRoots() stamp {
	roots := []string{loopdir.RecordsFolder(w.env.StateDir)}
	for _, k := range w.known {
		roots = append(roots, filepath.Dir(k.at.Dir))
	}
	slices.Sort(roots)
	return stampOf(slices.Compact(roots))
}

// sweep looks for loops, and for changes of theirs.
func (w *Watcher) sweep() {
	if changed, _ := w.rescan(); changed { // a state folder that cannot be read may be readable again
		w.publish()
	}
}

// rescan finds the loops anew and reads those that have changed. It reports whether the picture is another one.
func (w *Watcher) rescan() (changed bool, err error) {
	w.swept = time.Now()
	w.roots = w.stampOfRoots()
	all, err := find(w.env, w.folders)
	if err != nil {
		return false, err
	}
	there := map[string]bool{}
	for _, at := range all {
		key := keyOf(at)
		there[key] = true
		if w.known[key] == nil {
			w.known[key] = &known{at: at, files: files(at)}
		}
	}
	for key := range w.known {
		if !there[key] {
			delete(w.known, key)
			changed = true
		}
	}
	return w.refresh() || changed, nil
}

// refresh reads those of the loops that have changed, on all processors, and reports whether any has.
func (w *Watcher) refresh() bool {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	var changed atomic.Bool
	for _, k := range w.known {
		all.Go(func() error {
			if k.refresh(w.env) {
				changed.Store(true)
			}
			return nil
		})
	}
	_ = all.Wait()
	return changed.Load()
}

// refresh reads the loop if its files have changed, one of its processes has ended, or one of its sessions has fallen
// silent or is no longer, and reports whether the loop is another one.
func (k *known) refresh(env loop.Env) bool {
	now, ended := stampOf(k.files), k.endedProcesses()
	last, other := k.loop.LookForSign()
	if slices.Equal(now, k.stamp) && slices.Equal(ended, k.ended) && !other {
		moved := last.After(k.loop.LastSign)
		if moved {
			k.loop.LastSign = last
		}
		return moved
	}
	began := time.Now()
	before := k.loop
	k.ended = ended
	k.loop, k.procs = read(env, k.at)
	list, _ := features.SplitTag(k.loop.List)
	if !filepath.IsAbs(list) {
		list = "" // a tracker prints it, or there is none
	}
	if list != k.files[0] { // the stamp was of another file
		k.files[0] = list
		now[0] = stampOf(k.files[:1])[0]
		if began.UnixNano()-now[0].time < int64(settle) {
			now[0] = fileStamp{} // it may have changed after it was read
		}
	}
	k.stamp = now
	return !reflect.DeepEqual(before, k.loop)
}

// endedProcesses returns those of its processes that have ended.
func (k *known) endedProcesses() (all []proc.Process) {
	for _, p := range k.procs {
		if !proc.Alive(p.PID, p.Start) {
			all = append(all, p)
		}
	}
	return all
}
