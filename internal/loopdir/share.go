package loopdir

import (
	"path/filepath"
	"sync"
	"time"
)

// A run takes the steps of its lanes while the checks of their work run. So its goroutines share the loop's lock.

// share is a lock of this process that its goroutines share.
type share struct {
	turn    chan struct{} // has a value while no goroutine has its turn; closed when the lock is free again
	backup  *Backup
	changed string // what Restore has found changed of the record
	session string
}

var shares sync.Map // by the path of the lock's file

// Share takes the loop's lock, calls run, and frees the lock. Meanwhile other goroutines of this process get the lock
// one after the other; nobody else does. It puts the record back if anybody else changes it, and returns what that was.
func (s *Store) Share(wait time.Duration, session string, run func()) (changed string, err error) {
	unlock, err := s.Lock(wait)
	if err != nil {
		return "", err
	}
	defer unlock()
	one := &share{turn: make(chan struct{}, 1), session: session}
	one.backup, err = s.Backup(session)
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.Loop.StatePath(), lockFile)
	shares.Store(path, one)
	defer close(one.turn)
	func() {
		defer func() { // also if checks panic
			<-one.turn
			shares.Delete(path)
		}()
		one.turn <- struct{}{}
		run()
	}()
	changed, err = s.Restore(one.backup)
	if one.changed != "" {
		changed = one.changed
	}
	return changed, err
}

// lockShared takes the lock if goroutines of this process share it.
func (s *Store) lockShared(wait time.Duration) (is bool, unlock func(), err error) {
	shared, is := shares.Load(filepath.Join(s.Loop.StatePath(), lockFile))
	if !is {
		return false, nil, nil
	}
	one := shared.(*share)
	select {
	case _, is := <-one.turn:
		if !is {
			return false, nil, nil
		}
	case <-time.After(wait):
		return true, nil, ErrLocked
	}
	clear(s.cache) // another store of this process may have written
	if _, err := s.Restore(one.backup); err != nil {
		one.turn <- struct{}{}
		return true, nil, err
	}
	return true, func() {
		kept, err := s.Backup(one.session)
		if err == nil {
			one.backup = kept
		}
		one.turn <- struct{}{}
	}, nil
}
