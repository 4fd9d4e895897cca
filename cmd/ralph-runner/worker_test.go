package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/fleet"
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

// TestSayer prints what happens to a worker for programs: each line is an object of a known schema.
func TestSayer(t *testing.T) {
	var out bytes.Buffer
	k := worker{asJSON: true}
	k.sayer(&out)(fleet.Event{Lane: 2, Feature: "f1", Text: "begins <b>\x1b[31m"})
	head, rest, _ := strings.Cut(out.String(), `"time":`)
	if head != `{"schema":1,` || !strings.HasSuffix(rest, `,"lane":2,"feature":"f1","message":"begins <b>"}`+"\n") {
		t.Errorf("the line is %q", out.String())
	}
}
