package watch

import (
	"encoding/json"
	"fmt"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// TestClean checks that whoever shows a run gets clean texts, whatever is in its record and in the lines that it leaves
// in the project. The control: clean texts come through.
func TestClean(t *testing.T) {
	for _, text := range []string{hostile.Foreign, "clean"} {
		var r record.Run
		var line record.Session
		hostile.Fill(&r, text)
		hostile.Fill(&line, text)
		r.PID, r.Start, r.EndedAt = os.Getpid(), proc.Start(os.Getpid()), time.Time{} // it works
		r.Current.Outcome = ""
		run := runOf(&r)
		shown := fmt.Sprintf("%+v %+v\n", *run, *run.Session)
		w := watchtest.New(t)
		dir := filepath.Join(w.Dir, record.Folder)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		w.Write(filepath.Join(dir, record.Iterations), jsonLine(t, line))
		for _, l := range record.Sessions(w.Dir, line.RunID) {
			shown += fmt.Sprintf("%+v\n", l)
		}
		if bad := hostile.Dirty(shown); bad != "" {
			t.Errorf("it shows %q in:\n%q", bad, shown)
		}
		if n := strings.Count(shown, "clean"); text == "clean" && n < 8 {
			t.Errorf("control: only %d texts are shown:\n%s", n, shown)
		}
	}
}

// jsonLine returns a value as a line of JSON.
func jsonLine(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}
