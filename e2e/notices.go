//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// ending is an ending that a notifier was told of. Told again, it has the same
// id.
type ending struct {
	script, id, status, reason string
	calls                      int
}

// endings returns what a script's notifier was told, one JSON object a line, in
// the order of the first calls. Every ending must have been told once.
func endings(script, notices string) (told []ending, err error) {
	for line := range strings.Lines(notices) {
		notice := gjson.Parse(line)
		id := notice.Get("deliveryId").String()
		if !gjson.Valid(line) || id == "" {
			err = errors.Join(err, fmt.Errorf("a notice without an id: %q", line))
			continue
		}
		i := slices.IndexFunc(told, func(e ending) bool { return e.id == id })
		if i < 0 {
			i = len(told)
			told = append(told, ending{script: script, id: id, status: notice.Get("status").String(),
				reason: notice.Get("exitReason").String()})
		}
		told[i].calls++
	}
	for _, e := range told {
		if e.calls != 1 {
			err = errors.Join(err, fmt.Errorf("the ending %s was told %d times, want 1: %s", e.reason, e.calls, e.id))
		}
	}
	return told, err
}

// table is what all scripts were told. Scripts run in parallel.
type table struct {
	mu   sync.Mutex
	rows []ending
}

// collect adds what the script at its end was told. A script's notifier appends
// to the file notices, and there is none if it was never called.
func (t *table) collect(env *testscript.Env) {
	tb := env.T().(testing.TB)
	script := path.Base(tb.Name())
	notices, err := os.ReadFile(filepath.Join(env.WorkDir, "notices"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Error(err)
	}
	told, err := endings(script, string(notices))
	if err != nil {
		tb.Error(err)
	}
	if len(told) == 0 {
		told = []ending{{script: script, status: "none"}}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, told...)
}

// print writes the table, with an empty line after it, at once: other tests print beside it.
func (t *table) print(w io.Writer) {
	slices.SortStableFunc(t.rows, func(a, b ending) int { return cmp.Compare(a.script, b.script) })
	var text bytes.Buffer
	tw := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "script\tstatus\texitReason\tcalls")
	for _, e := range t.rows {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d\n", e.script, e.status, cmp.Or(e.reason, "-"), e.calls)
	}
	fmt.Fprintln(tw)
	tw.Flush()
	_, _ = text.WriteTo(w)
}
