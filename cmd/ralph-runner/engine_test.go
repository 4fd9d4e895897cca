package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// coordinate is a program for scripts. It is the run of the current loop that offers two features. When the file that
// its argument names has a credential, a worker takes the first of them and waits for what never comes, until it is
// locked out. It makes the files started, taken and locked-out, and ends when there is a file stop.
func coordinate() {
	if err := coordinates(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func coordinates(file string) error {
	ctx := context.Background()
	at, err := loopdir.Find(boot.Env(program).Where())
	if err != nil {
		return err
	}
	store, err := at.Open()
	if err != nil {
		return err
	}
	defer store.Close()
	r := record.Run{
		Schema: record.Schema, ID: record.NewID(), Loop: at.Dir, Options: record.Options{SessionTimeout: time.Hour},
		PID: os.Getpid(), Start: proc.Start(os.Getpid()), Lanes: make([]record.Lane, 2),
	}
	h, err := jobs.Open(ctx, jobs.Options{
		URL: jobs.Embedded, Loop: "demo", Dir: filepath.Join(at.StatePath(), jobs.Folder), Lease: 2 * time.Second,
	})
	if err != nil {
		return err
	}
	defer h.Close()
	var offers [2]*jobs.Offer
	for i, feature := range []string{"a", "b"} {
		current := &record.Current{Session: record.Session{Feature: feature}}
		r.Lanes[i].Current = current
		offers[i], err = h.Offer(jobs.Job{Feature: feature}, func(c *jobs.Claim) error {
			current.Claim = nil
			if c != nil {
				current.Claim = &record.Claim{ID: c.ID, Attempt: c.Attempt, Machine: c.Machine, Since: c.Since}
			}
			return r.Save(store)
		})
		if err != nil {
			return err
		}
	}
	if err := r.Save(store); err != nil {
		return err
	}
	if err := os.WriteFile("started", nil, 0o600); err != nil {
		return err
	}
	text := waitFor(file)
	o := jobs.Options{Creds: regexp.MustCompile(`ralph1\.\S+`).FindString(string(text)), Machine: "machine"}
	var w *jobs.Worker
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		w, err = jobs.Join(ctx, o)
		if err == nil { // the key works as soon as the engine has read it
			break
		}
	}
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := w.Take(ctx); err != nil {
		return err
	}
	if err := os.WriteFile("taken", nil, 0o600); err != nil {
		return err
	}
	offers[1].End(false)
	_, err = w.Take(ctx)
	if err != nil {
		err = os.WriteFile("locked-out", []byte(err.Error()), 0o600)
	}
	waitFor("stop")
	return err
}

// waitFor returns what is in a file when it has something, or what there is after half a minute.
func waitFor(file string) (text []byte) {
	for end := time.Now().Add(30 * time.Second); len(text) == 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
		text, _ = os.ReadFile(file)
	}
	return text
}
