//go:build unix

package watch

import (
	"encoding/json"
	"fmt"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// outside is a text that no reader may show: it is in files that are not the loop's.
const outside = "OUTSIDE-THE-PROJECT"

// secretLines are lines of every kind that is read, each with the text.
const secretLines = `[{"id":"` + outside + `","title":"` + outside + `"}]
Status: ` + outside + `
{"type":"assistant","message":{"content":[{"type":"text","text":"` + outside + `"}]}}
{"start":"2026-01-01T00:00:00Z","check":"` + outside + `","outcome":"ok","durationMs":1}
{"runId":"r1","session":1,"iteration":1,"feature":"` + outside + `","verdict":"continue"}
`

// plants are what an agent may put in place of a file, or of the folder that it is in.
func plants(secret string) map[string]hostile.Place {
	folderOf := hostile.Place(func(path string) error { return os.Symlink(filepath.Dir(secret), path) })
	return map[string]hostile.Place{
		"pipe": hostile.FIFO, "folder": hostile.Folder, "link to nothing": hostile.Nowhere, "device": hostile.Zeros,
		"link to itself": hostile.Itself, "link out": hostile.Link(secret), "link to a folder outside": folderOf,
		"2 GB of nothing": hostile.Sparse(2 << 30),
	}
}

// planted returns a loop with a run, all of whose files are there, and the paths of these.
func planted(w watchtest.World) (at *loopdir.Loop, paths []string) {
	at = w.Loop("demo")
	w.Run(at, record.Run{ID: "r1", Sessions: 1, Options: record.Options{Agent: "claude"}})
	logs := filepath.Join(at.Project, record.Folder, "logs")
	paths = []string{
		filepath.Join(at.Dir, loopdir.ListFile), filepath.Join(at.Dir, loopdir.ConfigFile),
		filepath.Join(at.Dir, loopdir.ProgressFile), filepath.Join(at.Dir, loopdir.HookLog),
		filepath.Join(at.Dir, loopdir.StopLog), filepath.Join(at.Dir, loopdir.CheckLines),
		filepath.Join(at.Project, record.Folder, record.Iterations), filepath.Join(logs, "r1", "1.log"),
	}
	for _, path := range paths {
		if _, err := os.Lstat(path); err != nil {
			if err := hostile.Write(path, []byte("{}\n")); err != nil {
				w.Fatal(err)
			}
		}
	}
	return at, append(paths, filepath.Join(logs, "r1"), logs, filepath.Join(at.Project, record.Folder), at.Dir,
		filepath.Dir(at.Dir))
}

// looks reads the loop in each way that there is, and returns all that was read, as JSON, and the errors.
func looks(w watchtest.World, at *loopdir.Loop) string {
	p, err := Look(w.Env)
	all := []any{p, fmt.Sprint(err)}
	d, err := Open(w.Env, at.Dir)
	all = append(all, d, fmt.Sprint(err))
	all = append(all, record.Sessions(at.Project, "r1"), record.SessionLog(at.Project, "r1", 1, 1<<20))
	text, err := json.Marshal(all)
	if err != nil {
		w.Error(err)
	}
	return string(text)
}

// TestPlanted checks that a reader neither hangs nor takes memory nor shows a file from outside, whatever an agent has
// put in place of a file.
func TestPlanted(t *testing.T) {
	w := watchtest.New(t)
	secret := filepath.Join(w.Dir, "elsewhere", loopdir.ListFile)
	if err := hostile.Write(secret, []byte(secretLines)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"1.log", loopdir.ConfigFile, loopdir.ProgressFile, loopdir.HookLog, loopdir.StopLog, "demo/" + loopdir.ListFile,
		"logs/r1/1.log", "r1/1.log",
	} {
		if err := hostile.Write(filepath.Join(filepath.Dir(secret), name), []byte(secretLines)); err != nil {
			t.Fatal(err)
		}
	}
	at, paths := planted(w)
	for _, path := range paths {
		for kind, place := range plants(secret) {
			kept := path + ".kept"
			if err := os.Rename(path, kept); err != nil {
				t.Fatal(err)
			}
			if err := place(path); err != nil {
				t.Fatal(err)
			}
			name, _ := filepath.Rel(at.Project, path)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			read := make(chan string)
			go func() { read <- looks(w, at) }()
			select {
			case text := <-read:
				if strings.Contains(text, outside) {
					t.Errorf("%s in place of %s: a file from outside is shown\n%s", kind, name, text)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%s in place of %s: the reader hangs", kind, name)
			}
			runtime.ReadMemStats(&after)
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 {
				t.Errorf("%s in place of %s: the reader takes %d MB", kind, name, mb)
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(kept, path); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, path := range paths[:len(paths)-5] { // the control: each of the files is shown if it is the loop's own
		name := filepath.Base(path)
		if name == loopdir.ConfigFile || name == loopdir.ProgressFile {
			continue // of which only what is known is shown
		}
		kept := path + ".kept"
		if err := os.Rename(path, kept); err != nil {
			t.Fatal(err)
		}
		text := secretLines
		if name == loopdir.ListFile {
			text, _, _ = strings.Cut(text, "\n")
		}
		if err := hostile.Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if text := looks(w, at); !strings.Contains(text, outside) {
			t.Errorf("control: nobody shows %s: %s", path, text)
		}
		if err := os.Rename(kept, path); err != nil {
			t.Fatal(err)
		}
	}
}
