package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
)

// catch returns a context that ends at the first signal by which a person, a terminal or the system ends a process.
// At the second one kill is closed.
func catch() (ctx context.Context, kill <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	second := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, boot.Endings...)
	go func() {
		<-signals
		cancel()
		<-signals
		close(second)
	}()
	return ctx, second
}
