package engine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The disk of the embedded server fills up, and is freed. By itself the server would never write again.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=48m"); err != nil {
		t.Skipf("a small disk needs the right to mount: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	c := open(t, func(o *Options) { o.Dir = dir })
	w := join(t, c, "w")
	ctx := t.Context()
	check(t, c.Offer(ctx, Job{Feature: "before"}))
	claim := take(t, w)

	filler := filepath.Join(dir, "filler")
	fill(t, filler)
	within, cancel := context.WithTimeout(ctx, 2*short)
	defer cancel()
	if err := claim.SubmitBytes(within, nil, bytes.Repeat([]byte("x"), 8*chunk)); err == nil {
		t.Fatal("control: the disk is not full")
	}
	time.Sleep(2 * short)
	_ = c.Offer(ctx, Job{Feature: "meanwhile"}) // it stands when there is room again
	check(t, os.Remove(filler))

	err := claim.SubmitBytes(ctx, nil, []byte("work"))
	if err != nil && !errors.Is(err, ErrFenced) {
		t.Fatal(err)
	}
	go work(t, w)
	done := map[string]bool{}
	for range 2 {
		s := next(t, c)
		check(t, c.End(ctx, s.Feature, true))
		done[s.Feature] = true
	}
	if len(done) != 2 {
		t.Errorf("done: %v", done)
	}
}

// fill writes until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	check(t, err)
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}
