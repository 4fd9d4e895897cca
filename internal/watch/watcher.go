package watch

import (
	"context"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

const (
	// settle is how long changes are collected before the loops are read: a stop writes several files.
	settle = 200 * time.Millisecond
	// sweep is how often all files are looked at, in case a notice of the system was lost, and whether processes live.
	sweep = 10 * time.Second
	// poll is how often they are looked at where the system gives no notices.
	poll = time.Second
)

// Watcher keeps a picture up to date. Its memory depends on how many loops there are, and not on how often they change:
// a reader that is slow misses pictures, and never the last one.
type Watcher struct {
	env     loop.Env
	folders []string
	picture atomic.Pointer[Picture]
	notices bool // use the system's; tests go without

	// Only New and Run use what follows.
	known map[string]*known // by key
	index map[string]string // the key of a file's loop, by the file's path
	roots map[string]bool   // the folders in which loops and records come and go

	mu      sync.Mutex
	readers map[chan struct{}]bool
}

// known is a loop that the watcher has read.
type known struct {
	at    *loopdir.Loop
	list  string // the path of its list; "": none
	stamp stamp
	loop  Loop
	moved bool           // it is new, or has another list: the index does not know its files
	procs []proc.Process // of the loop, when it was read
	ended []proc.Process // those that had ended before the last reading: what ends during it is seen at the next
}

// New reads all loops, as Look does. Run keeps the picture up to date.
func New(env loop.Env, folders ...string) (*Watcher, error) {
	w := &Watcher{
		env: env, folders: folders, notices: true, known: map[string]*known{}, readers: map[chan struct{}]bool{},
	}
	w.settleIndex()
	_, err := w.rescan()
	w.publish()
	return w, err
}

// Picture returns the last picture.
func (w *Watcher) Picture() *Picture { return w.picture.Load() }

// Changes returns a channel that gets a value after the picture has changed, and a function that ends this. If several
// changes come before the value is taken, there is one value.
func (w *Watcher) Changes() (changes <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.readers[c] = true
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.readers, c)
	}
}

// publish makes the picture of what is known, and tells the readers.
func (w *Watcher) publish() {
	loops := make([]Loop, 0, len(w.known))
	for _, k := range w.known {
		loops = append(loops, k.loop)
	}
	w.picture.Store(picture(loops))
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.readers {
		select {
		case c <- struct{}{}:
		default: // the reader has not taken the last one yet
		}
	}
}

// Run follows the files until ctx ends. It may be called once.
func (w *Watcher) Run(ctx context.Context) {
	n := newNotices(w.notices)
	defer n.close()
	timer := time.NewTimer(0) // what has changed since New
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-n.changes():
			path := filepath.Clean(event.Name)
			if !w.concerns(path) {
				continue // a build in the project's folder, say
			}
			paths := map[string]bool{path: true}
			n.collect(ctx, settle, paths)
			w.touched(paths)
			continue
		case <-n.errors(): // notices were lost
		case <-timer.C:
		}
		w.sweep()
		n.follow(w.dirs())
		pause := poll
		if n.complete() {
			pause = sweep
		}
		timer.Reset(pause)
	}
}

// concerns reports whether a notice is about a file of a loop, or about a loop that is new or gone.
func (w *Watcher) concerns(path string) bool {
	return w.index[path] != "" || w.roots[filepath.Dir(path)]
}

// touched reads the loops again whose files have changed.
func (w *Watcher) touched(paths map[string]bool) {
	keys := map[string]bool{}
	for path := range paths {
		if w.roots[filepath.Dir(path)] {
			w.sweep()
			return
		}
		if key := w.index[path]; key != "" {
			keys[key] = true
		}
	}
	if w.refresh(slices.Collect(maps.Keys(keys))) {
		w.publish()
	}
}

// sweep looks for loops and changes without any notice.
func (w *Watcher) sweep() {
	if changed, _ := w.rescan(); changed { // a state folder that cannot be read may be readable again
		w.publish()
	}
}

// rescan finds the loops anew and reads those that have changed. It reports whether the picture is another one.
func (w *Watcher) rescan() (changed bool, err error) {
	all, err := find(w.env, w.folders)
	if err != nil {
		return false, err
	}
	there := map[string]bool{}
	for _, at := range all {
		key := keyOf(at)
		there[key] = true
		if w.known[key] == nil {
			w.known[key] = &known{at: at, moved: true}
		}
	}
	for key := range w.known {
		if !there[key] {
			delete(w.known, key)
			changed = true
		}
	}
	read := w.refresh(slices.Collect(maps.Keys(there)))
	if changed {
		w.settleIndex()
	}
	return read || changed, nil
}

// refresh reads those of the loops that have changed, and reports whether any has.
func (w *Watcher) refresh(keys []string) bool {
	changed := make([]bool, len(keys))
	each(len(keys), func(i int) { changed[i] = w.known[keys[i]].refresh(w.env) })
	if slices.ContainsFunc(keys, func(key string) bool { return w.known[key].moved }) {
		w.settleIndex()
	}
	return slices.Contains(changed, true)
}

// settleIndex notes which files belong to which loop.
func (w *Watcher) settleIndex() {
	w.index = map[string]string{}
	w.roots = map[string]bool{loopdir.RecordsFolder(w.env.StateDir): true}
	for key, k := range w.known {
		k.moved = false
		for _, path := range files(k.at, k.list) {
			if path != "" {
				w.index[path] = key
			}
		}
		w.roots[filepath.Dir(k.at.Dir)] = true
	}
}

// dirs returns the folders to follow.
func (w *Watcher) dirs() map[string]bool {
	dirs := maps.Clone(w.roots)
	for _, k := range w.known {
		dirs[k.at.Dir], dirs[k.at.StatePath()] = true, true
		if k.list != "" && cheap {
			dirs[filepath.Dir(k.list)] = true
		}
	}
	return dirs
}

// refresh reads the loop if its files have changed or one of its processes has ended, and reports whether the loop is
// another one.
func (k *known) refresh(env loop.Env) bool {
	now, ended := stampOf(k.at, k.list), k.gone()
	if slices.Equal(now, k.stamp) && slices.Equal(ended, k.ended) {
		last := lastOf(k.loop.LastSign, k.loop.signs)
		moved := !last.Equal(k.loop.LastSign)
		k.loop.LastSign = last
		return moved
	}
	began := time.Now()
	before, list := k.loop, k.list
	k.ended = ended
	k.loop, k.procs = read(env, k.at)
	k.list, _ = features.Named(k.loop.List)
	if !filepath.IsAbs(k.list) {
		k.list = "" // a tracker prints it, or there is none
	}
	if k.list != list { // the stamp was of another file
		k.moved = true
		of := stampOf(k.at, k.list)[0]
		if began.UnixNano()-of.time < int64(settle) {
			of = fileStamp{} // it may have changed after it was read
		}
		now[0] = of
	}
	k.stamp = now
	return !reflect.DeepEqual(before, k.loop)
}

// gone returns those of its processes that have ended.
func (k *known) gone() (all []proc.Process) {
	for _, p := range k.procs {
		if !proc.Alive(p.PID, p.Start) {
			all = append(all, p)
		}
	}
	return all
}
