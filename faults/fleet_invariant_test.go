//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run/runtest"
)

// holds checks what is true of a loop that workers have worked to its end.
func (f *fleet) holds() error {
	err := errors.Join(f.laneTrial.holds(), f.recorded(), f.handedIn())
	for _, m := range f.machines {
		left, _ := filepath.Glob(filepath.Join(m.dir, "work", "work-*"))
		more, _ := filepath.Glob(filepath.Join(m.dir, "work", "base-*")) // the next worker there removes it
		if len(left)+len(more) > m.kills || len(more) > 1 {
			err = errors.Join(err, fmt.Errorf("%q and %q are left on %s", left, more, m.name))
		}
	}
	return err
}

// recorded checks the record of the run and its lines.
func (f *fleet) recorded() error {
	r, err := f.lastRun()
	if err == nil && (r.Status != "COMPLETE" || r.EndedAt.IsZero()) {
		err = fmt.Errorf("the run is %s", r.Status)
	}
	if err != nil {
		return err
	}
	return runtest.CheckFiles(f.runRecord(), filepath.Join(f.project, ".agent-state"))
}

var handedLine = regexp.MustCompile(`(?m)^lane \d+ · (\S+) is handed in: `)

// handedIn checks that nothing is handed in twice: each piece of work that a worker could hand in is a session of the
// run. A worker whose claim is lost cannot hand in what it has.
func (f *fleet) handedIn() (err error) {
	text, err := runtest.Lines(filepath.Join(f.project, ".agent-state"))
	if err != nil {
		return err
	}
	done, sessions := map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(text)) {
		if one := gjson.Parse(line); one.Get("worker").Str != "" {
			sessions[one.Get("feature").Str]++
		}
	}
	for _, m := range f.machines {
		text, e := os.ReadFile(m.log.Name())
		err = errors.Join(err, e)
		for _, found := range handedLine.FindAllStringSubmatch(string(text), -1) {
			done[found[1]]++
		}
	}
	for feature, n := range done {
		if n > sessions[feature] {
			err = errors.Join(err, fmt.Errorf("%s is handed in %d times, and has %d sessions", feature, n,
				sessions[feature]))
		}
	}
	if len(done) == 0 {
		err = errors.Join(err, errors.New("no worker has handed in anything"))
	}
	return err
}

// told adds to an error what was said, by the run and by the workers.
func (f *fleet) told(err error) error {
	if err == nil {
		return nil
	}
	var b strings.Builder
	text, _ := os.ReadFile(f.log.Name())
	fmt.Fprintf(&b, "%v\n--- the run said:\n%s", err, text[max(0, len(text)-6000):])
	for _, m := range f.machines {
		text, _ := os.ReadFile(m.log.Name())
		fmt.Fprintf(&b, "\n--- %s said:\n%s", m.name, text[max(0, len(text)-2500):])
	}
	return errors.New(b.String())
}
