//go:build faults && linux

package faults

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// holds checks what is true of a loop that lanes have worked to its end.
func (t *laneTrial) holds() error {
	wrong, _ := os.ReadFile(filepath.Join(t.diary(), "wrong"))
	if len(wrong) > 0 {
		return fmt.Errorf("features were begun too early: %s", wrong)
	}
	return errors.Join(t.merged(), t.listed(), t.tidy(), t.settle())
}

// merged checks the commits: one for each feature, after those of what it depends on.
func (t *laneTrial) merged() (err error) {
	const form = "--format=%H %P,%(trailers:key=Ralph-Feature,valueonly,separator=;)"
	log, err := t.git("log", "--reverse", form, t.base+"..main")
	if err != nil {
		return err
	}
	done := map[string]bool{}
	for _, line := range strings.Split(log, "\n") {
		commit, id, _ := strings.Cut(line, ",")
		words := strings.Fields(commit)
		if len(words) != 2 {
			return fmt.Errorf("the commit of %s has not one parent: %q", id, commit)
		}
		if done[id] {
			err = errors.Join(err, fmt.Errorf("%s is merged twice", id))
		}
		done[id] = true
		if text, e := t.git("show", words[0]+":done/"+id); e != nil || text != id {
			err = errors.Join(err, fmt.Errorf("%s is merged without its work", id))
		}
		if needs, _ := t.git("show", t.base+":plan/"+id); needs != "" && !done[needs] {
			err = errors.Join(err, fmt.Errorf("%s is merged before %s", id, needs))
		}
	}
	if len(done) != t.features {
		err = errors.Join(err, fmt.Errorf("%d features of %d are merged", len(done), t.features))
	}
	text, e := t.git("show", "main:all.txt")
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	if want := (t.features+6)/7 + 1; e != nil || len(lines) != want || len(slices.Compact(lines)) != want {
		err = errors.Join(err, e, fmt.Errorf("the file that many edit has %q", lines))
	}
	return err
}

// listed checks the list and the receipts.
func (t *laneTrial) listed() error {
	r, err := t.execute("", "status", loopName, "--json")
	if err != nil {
		return err
	}
	said := gjson.Parse(r.stdout)
	if got := said.Get("features.proven").Int(); got != int64(t.features) {
		return fmt.Errorf("%d features are proven: %.2000s", got, r.stdout)
	}
	text, err := os.ReadFile(filepath.Join(t.project, "feature_list.json"))
	if n := bytes.Count(text, []byte(`"passes": true`)); err != nil || n != t.features {
		return errors.Join(err, fmt.Errorf("the list claims %d features", n))
	}
	return nil
}

// tidy checks that no folder or repository of lanes, branch or change is left, not even one of the list, and that the
// tag of before is there.
func (t *laneTrial) tidy() error {
	var all error
	for want, args := range map[string][]string{
		"main": {"for-each-ref", "--format=%(refname:short)", "refs/heads"},
		"":     {"status", "--porcelain", "--", ".", ":(exclude).claude"},
		t.base: {"for-each-ref", "--format=%(objectname)", "refs/tags/ralph/backup"},
	} {
		got, err := t.git(args...)
		if err != nil || got != want {
			all = errors.Join(all, err, fmt.Errorf("git %q says %q, want %q", args, got, want))
		}
	}
	left, err := os.ReadDir(filepath.Join(t.root, "home", ".cache", "ralph"))
	if err == nil && len(left) > 0 {
		all = errors.Join(all, fmt.Errorf("%s is left in the cache folder", left[0].Name()))
	}
	for _, dir := range t.recordDirs() {
		if _, err := os.Lstat(filepath.Join(dir, "lanes.git")); err == nil {
			all = errors.Join(all, errors.New("the repository of the lanes is left"))
		}
	}
	if _, err := os.Lstat(filepath.Join(t.project, ".git", "index.lock")); err == nil {
		all = errors.Join(all, errors.New("the lock of the index is left"))
	}
	return all
}
