package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/engine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// coordinate is a program for scripts. It coordinates the current loop and offers two features. When the file that its
// argument names has a credential, a worker takes the first of them and waits for what never comes, until it is locked
// out. It makes the files started, taken and locked-out, and ends when there is a file stop.
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
	c, err := engine.Open(ctx, engine.Options{
		URL: engine.Embedded, Loop: "demo", Dir: filepath.Join(at.StatePath(), engine.Folder), Lease: 2 * time.Second,
	})
	if err != nil {
		return err
	}
	defer c.Close()
	for _, feature := range []string{"a", "b"} {
		if err := c.Offer(ctx, engine.Job{Feature: feature}); err != nil {
			return err
		}
	}
	if err := os.WriteFile("started", nil, 0o600); err != nil {
		return err
	}
	text := waitFor(file)
	o := engine.Options{Creds: regexp.MustCompile(`ralph1\.\S+`).FindString(string(text)), Machine: "machine"}
	var w *engine.Worker
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		w, err = engine.Join(ctx, o)
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
	if err := c.End(ctx, "b", false); err != nil {
		return err
	}
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

// natsServer is a NATS server as a person runs one, for scripts. It writes its address into the file that its first
// argument names, and ends when the second one has something.
func natsServer() {
	dir, err := os.MkdirTemp("", "nats-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := natsserver.NewServer(&natsserver.Options{
		Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
	})
	if err != nil {
		panic(err)
	}
	s.Start()
	if !s.ReadyForConnections(30*time.Second) || os.WriteFile(os.Args[1], []byte(s.ClientURL()), 0o600) != nil {
		panic("the server does not listen")
	}
	for len(waitFor(os.Args[2])) == 0 {
	}
	s.Shutdown()
	s.WaitForShutdown()
}
