package tree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkTree looks at 10,000 files in 500 folders that git tracks, under 100 rules.
func BenchmarkTree(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		path := filepath.Join(dir, fmt.Sprintf("src/m%d/p%d/f%d.go", i%20, i%500, i))
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(strings.Repeat("x", 2000)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	rules := new(strings.Builder)
	for i := range 50 {
		fmt.Fprintf(rules, "*.out%d\nname%d\n", i, i)
	}
	rules.WriteString("/dist/\ndocs/**/build\nlib*/x[0-9]\n")
	_ = os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rules.String()), 0o644)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			b.Fatalf("%s", out)
		}
	}
	tree := Tree{Env: os.Environ(), Dir: dir, Top: dir}
	begin := time.Now()
	b.Run("Fingerprint", func(b *testing.B) {
		for b.Loop() {
			tree.Fingerprint(b.Context(), begin, nil, nil)
		}
	})
}
