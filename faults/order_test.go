//go:build faults && linux

package faults

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	renamed = regexp.MustCompile(`^renameat2?\(\d+<([^>]*)>, "([^"]*)", \d+<([^>]*)>, "([^"]*)".*= 0$`)
	flushed = regexp.MustCompile(`^fsync\(\d+<([^>]*)>\) += 0$`)
)

// order holds, by the trace of a run, that each file is flushed before it is
// renamed, and its folder after that, before anything is printed.
func order(h *harness, what, trace string) {
	type rename struct{ from, dir string }
	var open []rename
	done := map[string]bool{}
	for line := range strings.Lines(trace) {
		line = strings.TrimSpace(line)
		if m := flushed.FindStringSubmatch(line); m != nil {
			done[m[1]] = true
			for i := 0; i < len(open); i++ {
				if open[i].dir == m[1] {
					open = append(open[:i], open[i+1:]...)
					i--
				}
			}
		}
		if m := renamed.FindStringSubmatch(line); m != nil && tempName.MatchString(m[2]) {
			var err error
			if from := m[1] + "/" + m[2]; !done[from] && !strings.HasSuffix(from, ".new") { // a link has nothing to flush
				err = fmt.Errorf("%s is renamed before it is flushed", m[4])
			}
			h.result(what, err)
			open = append(open, rename{m[4], m[3]})
		}
		if strings.HasPrefix(line, "write(1<") || strings.HasPrefix(line, "exit_group(") {
			for _, r := range open {
				h.result(what, fmt.Errorf("%s in %s is not there for certain when it is said to be", r.from, r.dir))
			}
			open = nil
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	traced := func(h *harness) func(*trial) error {
		return func(one *trial) error {
			if err := one.put(one.ready); err != nil {
				return err
			}
			trace := one.root + ".trace"
			defer os.Remove(trace)
			one.wrap = []string{"strace", "-qq", "-y", "-o", trace, "-e",
				"trace=renameat,renameat2,fsync,write,exit_group"}
			_, err := one.act(one.world)
			one.wrap = nil
			if err != nil {
				return err
			}
			text, err := os.ReadFile(trace)
			order(h, one.scenario.name, string(text))
			return err
		}
	}
	h := newHarness(t, "the order of flushes, rename and answer")
	needStrace(t)
	trials(h, "one thread", inMemory, scenarios, traced(h))
	for _, broken := range []string{"does not flush the folder", "renames without a flush"} {
		h.control(broken, func(h *harness) { trials(h, broken, inMemory, named("continue"), traced(h)) })
	}
}
