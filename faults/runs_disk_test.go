//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// onFull runs the run on a disk with so many free pages. Then there is room again, and it goes on.
func (t *runTrial) onFull(h *harness, pages int) (enough bool) {
	const page = 4096
	err := t.put(t.ready)
	filler := filepath.Join(t.root, "filler")
	if err == nil {
		err = fill(filler, pages*page)
	}
	if err == nil {
		var r result
		r, err = t.execute("", t.args...)
		err = errors.Join(err, t.settle(), os.Remove(filler))
		if err == nil {
			err = t.survived(r)
		}
	}
	return h.result(fmt.Sprintf("%s, %d pages free", t.name, pages), err)
}

func TestRunFullDisk(t *testing.T) {
	h := newHarness(t, "a run on a full disk")
	if !alone(t, h) {
		return
	}
	try := func(h *harness, runner string, of []runKind, far int) {
		for _, k := range of {
			at := placeOf(t, "run "+h.broken+k.name)
			mount(t, "tmpfs", "-o", "size=1m", "none", at)
			runTrials(h, runner, place{name: "a small disk", project: at, state: at}, []runKind{k},
				func(one *runTrial) error {
					for pages := 0; pages < 40; pages += far {
						if one.onFull(h, pages) {
							break
						}
					}
					return nil
				})
		}
	}
	try(h, "runner", runKinds, stride(11))
	h.control("goes on when its record is not saved", func(h *harness) { try(h, h.broken, kindsOf("run"), 1) })
}

// TestRunShortWrites cuts the writes of a run, and of its agent, by a limit of file sizes.
func TestRunShortWrites(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "writes of a run cut short")
	try := func(h *harness, runner string, of []runKind, far int) {
		runTrials(h, runner, inMemory, of, func(one *runTrial) error {
			for size := 0; size < 4000; size += far {
				r, err := one.try("prlimit", "--fsize="+strconv.Itoa(size)+":")
				if err == nil {
					err = one.survived(r)
				}
				if h.result(fmt.Sprintf("%s, files up to %d bytes", one.name, size), err) {
					return nil
				}
			}
			return nil
		})
	}
	try(h, "runner", kindsOf("run", "chain", "resume after a kill"), 23*stride(17))
	h.control("writes its record in place", func(h *harness) { try(h, h.broken, kindsOf("run"), 23) })
}
