//go:build unix

package proc

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestGrace stops programs that end when they are asked to, and one that does not.
func TestGrace(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"trap 'echo asked; exit 7' TERM; echo on; while :; do sleep 0.05; done": "on asked 7",
		"trap '' TERM; echo on; while :; do sleep 0.05; done":                   "on -1",
		"echo on; sleep 20": "on 143",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		out := &seen{want: "on\n", then: cancel}
		now := make(chan struct{})
		if strings.HasPrefix(line, "trap ''") {
			time.AfterFunc(200*time.Millisecond, func() { close(now) })
		}
		begin := time.Now()
		r := Run(ctx, Cmd{
			Shell: line, Guard: self, Env: os.Environ(), Timeout: time.Minute, Stdout: out, Grace: 20 * time.Second,
			Now: now, Session: true,
		})
		got := strings.Join(append(strings.Fields(out.text.String()), strconv.Itoa(r.ExitCode)), " ")
		if got != want {
			t.Errorf("%s: %q, want %q (%v)", line, got, want, r.Err)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: took %v", line, took)
		}
	}
}

// seen keeps what is written to it, and calls then once it has what is wanted.
type seen struct {
	want string
	then func()
	text strings.Builder
}

func (s *seen) Write(p []byte) (int, error) {
	s.text.Write(p)
	if strings.Contains(s.text.String(), s.want) {
		s.then()
	}
	return len(p), nil
}
