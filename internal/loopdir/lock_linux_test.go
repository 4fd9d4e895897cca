package loopdir

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestLockOfReader lets a process that can only read the state folder hold the lock, in
// both ways that there are. It stops nobody.
func TestLockOfReader(t *testing.T) {
	l := newLoop(t)
	s := opened(t, l)
	other := opened(t, l)
	for name, hold := range map[string]func(fd int) error{
		"nobody":  func(int) error { return nil },
		"flock":   func(fd int) error { return unix.Flock(fd, unix.LOCK_EX) },
		"fcntl":   func(fd int) error { return lockRange(fd, 0) },
		"a range": func(fd int) error { return lockRange(fd, 7) },
	} {
		path := filepath.Join(l.StatePath(), lockFile)
		if err := errors.Join(os.MkdirAll(l.StatePath(), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		err = hold(int(f.Fd()))
		for range 100 { // as below
			if err == nil {
				break
			}
			time.Sleep(time.Millisecond)
			err = hold(int(f.Fd()))
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		unlock, err := s.Lock(time.Second) // who gave up in the round before may have it for a moment
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := other.Lock(30 * time.Millisecond); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: held by one of ours: %v, want ErrLocked", name, err)
		}
		unlock()
	}
	if left, _ := filepath.Glob(filepath.Join(l.StatePath(), ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func lockRange(fd int, from int64) error {
	lock := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart, Start: from}
	return unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &lock)
}

// TestLockOfHastyReader lets a reader take each new file at once.
func TestLockOfHastyReader(t *testing.T) {
	l := newLoop(t)
	s := opened(t, l)
	path := filepath.Join(l.StatePath(), lockFile)
	if err := errors.Join(os.MkdirAll(l.StatePath(), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if f, err := os.Open(path); err == nil {
				defer f.Close()
				_ = lockRange(int(f.Fd()), 0)
				time.Sleep(100 * time.Microsecond)
			}
		}
	}()
	for range 20 {
		unlock, err := s.Lock(5 * time.Second)
		if err != nil {
			t.Error(err)
			break
		}
		unlock()
		time.Sleep(time.Millisecond)
	}
	close(stop)
	<-ended
}
