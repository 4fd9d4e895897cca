//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestPerson has a person work in the checkout while lanes work: edits, staged files, commits, stashes, other branches,
// gc, a held lock, a list that is half saved or an older one. No run ends for that, each feature is merged once, and
// the person's files and commits are as the person made them.
func TestPerson(t *testing.T) {
	h := newHarness(t, "lanes, and a person in the checkout")
	features, lanes := 60, []int{1, 4, 8}
	if testing.Short() {
		features, lanes = 32, []int{4}
	}
	for _, n := range lanes {
		personTrial(h, "runner", features, n)
	}
	h.control("ends at a list that is half saved", func(c *harness) { personTrial(c, c.broken, 24, 4) })
}

func personTrial(h *harness, name string, features, lanes int) {
	p, err := get(name)
	if err != nil {
		h.Fatal(err)
	}
	t, err := newLaneTrial(newWorld(h, p, inMemory), features, lanes, 300*time.Millisecond)
	if err != nil {
		h.Fatal(err)
	}
	me := &person{laneTrial: t, over: make(chan struct{})}
	if err := me.begin(); err != nil {
		h.Fatal(err)
	}
	me.all.Go(me.works)
	said, err := t.work(0)
	close(me.over)
	me.all.Wait()
	err = errors.Join(err, me.takes(said), me.holds())
	if err != nil {
		err = fmt.Errorf("%w\n--- it said:\n%s", err, said[max(0, len(said)-3000):])
	}
	h.many(me.acts, fmt.Sprintf("%d lanes beside a person", lanes), err)
}

// person works in the project of a trial.
type person struct {
	*laneTrial
	over    chan struct{}
	all     sync.WaitGroup
	acts    int
	text    string // of mine.txt
	commits int    // that it is in
}

func (p *person) begin() error {
	p.text = "mine\n"
	err := os.WriteFile(p.mine(), []byte(p.text), 0o600)
	if err == nil {
		err = p.commit("add", "mine.txt")
	}
	return err
}

func (p *person) mine() string { return filepath.Join(p.project, "mine.txt") }

// commit runs a git command, and then commits mine.txt, and commits it with a number of its own.
func (p *person) commit(args ...string) error {
	if _, err := p.git(args...); err != nil {
		return err
	}
	_, err := p.git("commit", "-qm", fmt.Sprintf("Person %d", p.commits+1), "--", "mine.txt")
	if err == nil {
		p.commits++
	}
	return err
}

// works does one thing after the other, until the run is over. What git refuses is not done: the run may hold the lock.
func (p *person) works() {
	list := filepath.Join(p.project, "feature_list.json")
	lock := filepath.Join(p.project, ".git", "index.lock")
	acts := []func(){
		func() { _ = p.commit("add", "mine.txt") },
		func() { _, _ = p.git("add", "mine.txt") },
		func() {
			if _, err := p.git("stash", "push", "-q", "--", "mine.txt"); err == nil {
				p.rest()
				for range 50 {
					if _, err := p.git("stash", "pop", "-q"); err == nil {
						return
					}
					p.rest()
				}
			}
		},
		func() { _, _ = p.git("checkout", "-q", "--", "feature_list.json") },
		func() {
			if _, err := p.git("switch", "-q", "-c", fmt.Sprintf("side-%d", p.acts)); err != nil {
				return
			}
			p.rest()
			for range 50 {
				if _, err := p.git("switch", "-q", "main"); err == nil {
					return
				}
				p.rest()
			}
		},
		func() { _, _ = p.git("gc", "-q", "--prune=now") },
		func() {
			f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL, 0o600)
			if err == nil {
				f.Close()
				time.Sleep(1500 * time.Millisecond)
				_ = os.Remove(lock)
			}
		},
		func() {
			text, err := os.ReadFile(list)
			if err == nil && os.WriteFile(list, text[:len(text)/2], 0o600) == nil {
				time.Sleep(time.Second)
				_ = os.WriteFile(list, text, 0o600)
			}
		},
	}
	for p.begun() == 0 { // it wants a clean tree when it begins
		select {
		case <-p.over:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	for {
		p.text += fmt.Sprintf("line %d\n", p.acts)
		_ = os.WriteFile(p.mine(), []byte(p.text), 0o600)
		acts[len(acts)-1-p.acts%len(acts)]()
		p.acts++
		select {
		case <-p.over:
			return
		case <-time.After(rand.N(400 * time.Millisecond)):
		}
	}
}

func (p *person) rest() { time.Sleep(100*time.Millisecond + rand.N(500*time.Millisecond)) }

var toMerge = regexp.MustCompile(`type: git merge --autostash ([0-9a-f]{40})\n  logs`)

// takes types the command of the ending, if there is one.
func (p *person) takes(said string) error {
	if m := toMerge.FindStringSubmatch(said); m != nil {
		_, err := p.git("merge", "-q", "--autostash", "--no-edit", m[1])
		return err
	}
	return nil
}

// holds checks that each feature is merged once, and that all of the person's is there.
func (p *person) holds() error {
	wrong, _ := os.ReadFile(filepath.Join(p.diary(), "wrong"))
	if len(wrong) > 0 {
		return fmt.Errorf("features were begun too early: %s", wrong)
	}
	log, err := p.git("log", "--format=%s;%(trailers:key=Ralph-Feature,valueonly,separator=%x2C)", p.base+"..main")
	if err != nil {
		return err
	}
	merged, own := map[string]int{}, map[string]int{}
	for _, line := range strings.Split(log, "\n") {
		subject, feature, _ := strings.Cut(line, ";")
		if feature != "" {
			merged[feature]++
		} else if strings.HasPrefix(subject, "Person ") {
			own[subject]++
		}
	}
	for id, n := range merged {
		if n != 1 {
			err = errors.Join(err, fmt.Errorf("%s is merged %d times", id, n))
		}
	}
	if len(merged) != p.features || len(own) != p.commits {
		err = errors.Join(err, fmt.Errorf("%d of %d features and %d of %d commits are on main", len(merged), p.features,
			len(own), p.commits))
	}
	if text, e := os.ReadFile(p.mine()); e != nil || string(text) != p.text {
		err = errors.Join(err, e, fmt.Errorf("the person's file has %q, want %q", text, p.text))
	}
	return errors.Join(err, p.settle())
}
