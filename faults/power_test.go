//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// disk is an ext4 in a file, from which the power can be taken.
type disk struct{ image, at string }

// Nothing is written by itself, and renames get no flush from the file system's own
// heuristics (ext4(5), noauto_da_alloc).
const diskOptions = "loop,commit=1000,noauto_da_alloc"

func newDisk(t *testing.T, name string) disk {
	d := disk{image: filepath.Join(t.TempDir(), "image"), at: placeOf(t, name)}
	mkfs := exec.Command("sh", "-c", "truncate -s 32M "+d.image+" && mkfs.ext4 -q -F "+d.image)
	if out, err := mkfs.CombinedOutput(); err != nil {
		t.Skipf("mkfs.ext4: %v: %s", err, out)
	}
	mount(t, "ext4", "-o", diskOptions, d.image, d.at)
	return d
}

// How ext4 goes down (EXT4_IOC_SHUTDOWN, fs/ext4/ext4.h): with what is in its
// journal's memory flushed before, or lost.
const (
	shutdown   = 0x8004587d
	logFlush   = 1
	noLogFlush = 2
)

// cut takes the power, and gives it back.
func (d disk) cut(how int) error {
	f, err := os.Open(d.at)
	if err != nil {
		return err
	}
	err = unix.IoctlSetPointerInt(int(f.Fd()), shutdown, how)
	f.Close()
	if err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	// A process that this one has just forked has the same files open for a moment.
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		err = unix.Unmount(d.at, 0)
		if err != unix.EBUSY || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	if out, err := exec.Command("mount", "-o", diskOptions, d.image, d.at).CombinedOutput(); err != nil {
		return fmt.Errorf("mount: %w: %s", err, out)
	}
	return nil
}

// flush writes all that there is.
func (d disk) flush() error {
	f, err := os.Open(d.at)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// darkened cuts the power when a run has ended, and when it was killed at one of the
// calls by which something becomes durable.
func (t *trial) darkened(h *harness, d disk, kills bool) error {
	made, err := t.made()
	if err != nil {
		return err
	}
	for _, how := range []int{noLogFlush, logFlush} {
		for _, name := range []string{"", "fsync", "renameat", "write"} {
			if name != "" && (!kills || made[name] == 0) {
				continue
			}
			for n, come := 1, reached; come != missed; n++ {
				if err := errors.Join(t.put(t.ready), d.flush()); err != nil {
					return err
				}
				var r result
				var err error
				if name == "" {
					r, err = t.act(t.world)
					come = missed
				} else if r, come, err = t.under(name, fmt.Sprintf("signal=KILL:when=%d", n)); come == missed {
					break
				}
				if err := errors.Join(err, t.settle(), d.cut(how)); err != nil {
					return err
				}
				what := fmt.Sprintf("%s, power cut (%d) %s %d", t.scenario.name, how, name, n)
				if h.result(what, t.survived(r, fault{cleanup: true})) {
					return nil
				}
			}
		}
	}
	return nil
}

func TestPowerCut(t *testing.T) {
	h := newHarness(t, "a power cut, also during a run")
	if !alone(t, h) {
		return
	}
	needStrace(t)
	kills := named("continue", "end with notice", "reopen", "init", "trust")
	if testing.Short() {
		kills = named("continue")
	}
	try := func(h *harness, program string, of []scenario) {
		for _, s := range of {
			d := newDisk(h.T, program+s.name)
			trials(h, program, place{name: "ext4", project: d.at, state: d.at}, []scenario{s}, func(one *trial) error {
				return one.darkened(h, d, slices.ContainsFunc(kills, func(k scenario) bool { return k.name == s.name }))
			})
		}
	}
	try(h, "one thread", some())
	// Of several files in a row the last one's flush is that of all; trust writes one.
	h.control("does not flush the folder", func(h *harness) { try(h, h.broken, named("trust")) })
	h.control("renames without a flush", func(h *harness) { try(h, h.broken, named("continue")) })
}
