//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// full fills the file system of a trial's project, so that no page is left, or a few.
func (t *trial) full(h *harness, far int) error {
	const page, most = 4096, 10
	for pages := 0; pages <= most; pages += far {
		if err := t.put(t.ready); err != nil {
			return err
		}
		filler := filepath.Join(t.root, "filler")
		if err := fill(filler, pages*page); err != nil {
			return err
		}
		r, err := t.act(t.world)
		if settled := t.settle(); err == nil {
			err = settled
		}
		if all, unread := t.told(); err == nil && unread == nil && slices.ContainsFunc(all, told.ofTrouble) {
			_, err = t.act(t.world)
			if err == nil { // which must not tell it again
				err = t.settle()
			}
		}
		if gone := os.Remove(filler); gone != nil {
			return gone
		}
		if err == nil {
			err = t.survived(r, fault{})
		}
		if h.result(fmt.Sprintf("%s, %d pages free", t.scenario.name, pages), err) {
			return nil
		}
	}
	return nil
}

// fill makes a file that leaves so many bytes.
func fill(path string, leave int) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	size, block := int64(0), make([]byte, 4096)
	for {
		n, err := f.Write(block)
		size += int64(n)
		if errors.Is(err, syscall.ENOSPC) {
			return f.Truncate(max(0, size-int64(leave)))
		}
		if err != nil {
			return err
		}
	}
}

func TestFullDisk(t *testing.T) {
	h := newHarness(t, "a full disk, or nearly")
	if !alone(t, h) {
		return
	}
	const tries = 8
	disk := func(name string) {
		// As large as needed: a full one is filled by writing.
		mount(t, "tmpfs", "-o", "size=1m", "none", placeOf(t, name))
	}
	for _, s := range scenarios {
		disk(s.name)
	}
	for n := range tries {
		disk(fmt.Sprint("try ", n))
	}
	try := func(h *harness, program, disk string, s scenario, far int) {
		small := place{name: "a small disk", project: placeOf(t, disk), state: placeOf(t, disk)}
		trials(h, program, small, []scenario{s}, func(one *trial) error { return one.full(h, far) })
	}
	for _, s := range some() {
		try(h, "product", s.name, s, stride(3))
	}
	for _, broken := range []string{"keeps a failed write", "tells trouble at each stop"} {
		// Where the disk has no page or several, no trouble can be told, or there is none. Which number lies between
		// differs: tmpfs counts its free pages roughly.
		h.control(broken, func(h *harness) {
			for n := range tries {
				try(h, h.broken, fmt.Sprint("try ", n), named("continue")[0], 1)
			}
		})
	}
}

// placeOf is a folder to mount something at.
func placeOf(t *testing.T, name string) string {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("ralph-faults-%d-%x", os.Getpid(), name))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mount(t *testing.T, kind string, args ...string) {
	at := args[len(args)-1]
	if out, err := exec.Command("mount", append([]string{"-t", kind}, args...)...).CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		_ = unix.Unmount(at, unix.MNT_DETACH) // the namespace goes with this process anyway
		_ = os.Remove(at)
	})
}

// TestShortWrites cuts writes short, at any byte, by a limit of file sizes.
func TestShortWrites(t *testing.T) {
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip("needs prlimit")
	}
	t.Parallel()
	h := newHarness(t, "writes cut short")
	try := func(h *harness, far int) func(one *trial) error {
		return func(one *trial) error {
			const most = 4000 // no file that matters is larger
			for size := 0; size < most; size += 1 + far*37 {
				if err := one.put(one.ready); err != nil {
					return err
				}
				one.wrap = []string{"prlimit", "--fsize=" + strconv.Itoa(size) + ":"}
				r, err := one.act(one.world)
				one.wrap = nil
				if err == nil {
					err = one.survived(r, fault{})
				} else {
					err = errors.Join(err, one.settle())
				}
				if h.result(fmt.Sprintf("%s, files up to %d bytes", one.scenario.name, size), err) {
					return nil
				}
			}
			return nil
		}
	}
	trials(h, "product", inMemory, some(), try(h, stride(16)))
	h.control("writes in place", func(h *harness) { trials(h, h.broken, inMemory, named("continue"), try(h, 1)) })
}
