//go:build linux

package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestAsk asks a server that answers, and ones that hang at each place where one can hang.
func TestAsk(t *testing.T) {
	const answers = `cat >/dev/null & echo '{"id":2}'; `
	for _, tc := range []struct{ name, server, want string }{
		{"answers", `read line; echo '{"id":1}'; echo '{"id":2}'; cat >/dev/null`, ""},
		{"ends early", `read line`, "EOF"},
		{"does not answer", `cat >/dev/null; sleep 1000`, "hung: it did not answer the request 2"},
		{"a child of it has its output", `sleep 1000 & sleep 1000`, "hung: it did not answer the request 2"},
		{"does not end", answers + `sleep 1000`, "hung: it did not end when its input was closed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			patience := time.Second
			if !strings.Contains(tc.want, "hung") {
				patience = time.Minute
			}
			var answer bytes.Buffer
			err := ask(strings.NewReader("question\n"), &answer, exec.Command("sh", "-c", tc.server), patience)
			if tc.want == "" && (err != nil || answer.String() != `{"id":2}`+"\n") {
				t.Errorf("%v, %q", err, answer.String())
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
	t.Run("does not read", func(t *testing.T) {
		t.Parallel()
		long := strings.NewReader(strings.Repeat("question\n", 1<<20))
		err := ask(long, &bytes.Buffer{}, exec.Command("sh", "-c", "sleep 1000"), time.Second)
		if err == nil || !strings.Contains(err.Error(), "hung: it did not read the question") {
			t.Error(err)
		}
	})
}
