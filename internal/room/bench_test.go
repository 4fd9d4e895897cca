package room

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// BenchmarkRoom has a room of 20,000 files in 1,000 folders: without a change since the last time, and with one.
func BenchmarkRoom(b *testing.B) {
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("needs git")
	}
	dir := b.TempDir()
	project := filepath.Join(dir, "project")
	for i := range 20_000 {
		path := filepath.Join(project, fmt.Sprintf("src/m%d/p%d/f%d.go", i%20, i%1000, i))
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", 2000)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	r := Room{Git: filepath.Join(dir, "room.git"), Dir: filepath.Join(dir, "room"), Env: os.Environ()}
	t := tree.Tree{Env: os.Environ(), Dir: project, Top: project, Rules: map[string]string{}}
	begin := time.Now()
	taken, err := r.Snapshot(b.Context(), t, "", nil)
	if err != nil {
		b.Fatal(err)
	}
	trusted := taken.Tree
	b.Logf("trust: %v", time.Since(begin))
	rule := Rule{Name: "all", Why: func(Edit) string { return "" }}
	look := func(b *testing.B) string {
		now, err := r.Snapshot(b.Context(), t, trusted, nil)
		if err != nil {
			b.Fatal(err)
		}
		proof, err := r.Prove(b.Context(), trusted, now.Tree, rule)
		if err != nil {
			b.Fatal(err)
		}
		return proof.Tree
	}
	fill := func(b *testing.B, id string) {
		if _, err := r.Fill(b.Context(), Contents{Tree: id, Trusted: trusted, Base: "."}); err != nil {
			b.Fatal(err)
		}
	}
	id := look(b)
	begin = time.Now()
	fill(b, id)
	b.Logf("first filling: %v", time.Since(begin))
	time.Sleep(2500 * time.Millisecond) // see tree.Entries.Stamp
	look(b)
	fill(b, id)
	b.Run("Contents", func(b *testing.B) {
		here := tree.Tree{Dir: project} // what a stop does without a room
		for b.Loop() {
			if here.Contents(b.Context()) == "" {
				b.Fatal("no contents")
			}
		}
	})
	b.Run("Look", func(b *testing.B) {
		for b.Loop() {
			look(b)
		}
	})
	b.Run("Fill", func(b *testing.B) {
		for b.Loop() {
			fill(b, id)
		}
	})
	b.Run("Changed", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			path := filepath.Join(project, "src/m1/p1/f1.go")
			if err := os.WriteFile(path, fmt.Appendf(nil, "change %d", i), 0o644); err != nil {
				b.Fatal(err)
			}
			fill(b, look(b))
		}
	})
}
