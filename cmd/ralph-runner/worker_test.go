package main

import (
	"errors"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// A worker that was killed may have its folder for a moment more. The next one there waits for it, and takes no folder
// of a worker that goes on.
func TestWorkerFolderSoonFree(t *testing.T) {
	t.Parallel()
	k := &worker{dir: t.TempDir()}
	killed, err := lockDir(k.dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockDir(k.dir, 0); !errors.Is(err, loopdir.ErrLocked) {
		t.Fatalf("the folder of another worker: %v", err)
	}
	time.AfterFunc(time.Second, func() { killed.Close() })
	lock, err := k.takeDir()
	if err != nil {
		t.Fatal(err)
	}
	lock.Close()
}
