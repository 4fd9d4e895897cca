package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
)

// errStopped says that a signal ends the run.
var errStopped = errors.New("a signal ends the run")

// catch returns a context that ends at the first signal by which a person, a terminal or the system ends a process.
// At the second one kill is closed. by returns why the context ended, nil if it did not.
func catch(parent context.Context) (ctx context.Context, kill <-chan struct{}, by func() error) {
	ctx, cancel := context.WithCancelCause(parent)
	second := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, boot.Endings...)
	// A closed terminal must not end the run before its record is kept.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		<-signals
		cancel(errStopped)
		<-signals
		close(second)
	}()
	return ctx, second, func() error { return context.Cause(ctx) }
}
