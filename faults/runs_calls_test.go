//go:build faults && linux

package faults

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// fileCalls are the calls with which a run, or the MCP server, reads and changes files, or speaks, and how they fail.
var fileCalls = []call{
	{"renameat", []string{"ENOSPC", "EIO"}},
	{"fsync", []string{"EIO"}},
	{"write", []string{"ENOSPC"}},
	{"openat", []string{"ENOSPC"}},
	{"unlinkat", []string{"EIO"}},
	{"mkdirat", []string{"ENOSPC"}},
	{"flock", []string{"EIO"}},
	{"newfstatat", []string{"EIO"}},
	{"read", []string{"EIO"}},
}

// runCalls are also those with which a run starts and ends processes. None of these fails.
var runCalls = slices.Concat(fileCalls, []call{
	{"fcntl", nil}, {"clone", nil}, {"pipe2", nil}, {"waitid", nil}, {"exit_group", nil},
})

// made counts the calls of a run without a fault.
func (t *runTrial) made() (map[string]int, error) {
	trace := t.root + ".trace"
	defer os.Remove(trace)
	if _, err := t.try("strace", "-qq", "-o", trace); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(trace)
	count := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if name, _, ok := strings.Cut(line, "("); ok {
			count[name]++
		}
	}
	return count, err
}

// at tries a run with a fault that strace makes at one call.
func (t *runTrial) at(h *harness, name, what string) (enough bool) {
	r, err := t.try("strace", "-qq", "-o", os.DevNull, "-e", "trace="+name, "-e", "inject="+name+":"+what)
	if err == nil {
		err = t.survived(r)
	}
	_ = t.settle()
	h.count(t.name)
	return h.result(fmt.Sprintf("%s, %s:%s", t.name, name, what), err)
}

// eachCall makes a fault at calls of each name, in every way: at most so many of a name and a way.
func (t *runTrial) eachCall(h *harness, most int, ways func(c call) []string) error {
	made, err := t.made()
	if err != nil {
		return err
	}
	for _, c := range runCalls {
		if made[c.name] == 0 {
			continue
		}
		far := (made[c.name] + most - 1) / most
		for _, way := range ways(c) {
			for n := 1 + int(*seed%uint64(far)); n <= made[c.name]; n += far {
				if t.at(h, c.name, fmt.Sprintf(way, n)) {
					return nil
				}
			}
		}
	}
	return nil
}

func kill(call) []string { return []string{"signal=KILL:when=%d"} }

// fail has a call fail: once, and from then on.
func fail(c call) (ways []string) {
	for _, e := range c.errors {
		ways = append(ways, "error="+e+":when=%d", "error="+e+":when=%d+")
	}
	return ways
}

// endedThen ends a run at moments that are spread over its time, whatever its threads do then: it is killed, or ended
// as by Ctrl-C.
func (t *runTrial) endedThen(h *harness, times int) error {
	begin := time.Now()
	if _, err := t.try(); err != nil {
		return err
	}
	took := time.Since(begin)
	for n := range times {
		after := took * time.Duration(n+1) / time.Duration(times)
		signal := []string{"KILL", "INT"}[n%2]
		r, err := t.try("timeout", "-s", signal, fmt.Sprintf("%.4f", after.Seconds()))
		if err == nil {
			err = t.survived(r)
		}
		h.count(t.name)
		if h.result(fmt.Sprintf("%s, SIG%s after %v of %v", t.name, signal, after, took), err) {
			return nil
		}
	}
	return nil
}

func TestRunKilled(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "a run killed at each system call, and by Ctrl-C")
	needStrace(t)
	runTrials(h, "runner of one thread", inMemory, runKinds, func(one *runTrial) error {
		if err := one.eachCall(h, 60/stride(12), kill); err != nil {
			return err
		}
		return one.endedThen(h, 100/stride(12))
	})
	for _, broken := range []string{
		"forgets the session that was killed", "writes a session down again", "forgets that the loop has ended",
	} {
		h.control(broken, func(h *harness) {
			runTrials(h, h.broken, inMemory, kindsOf("run"),
				func(one *runTrial) error { return one.eachCall(h, 100, kill) })
		})
	}
}

func TestRunFails(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "each system call of a run fails")
	needStrace(t)
	of := runKinds
	if testing.Short() {
		of = kindsOf("run", "chain")
	}
	runTrials(h, "runner of one thread", inMemory, of, func(one *runTrial) error {
		return one.eachCall(h, 30/stride(15), fail)
	})
	for _, broken := range []string{"does not tell what nobody told", "goes on when its record is not saved"} {
		h.control(broken, func(h *harness) {
			runTrials(h, h.broken, inMemory, kindsOf("run"),
				func(one *runTrial) error { return one.eachCall(h, 50, fail) })
		})
	}
}
