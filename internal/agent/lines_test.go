package agent

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// recorder is a Parser that writes down its lines.
type recorder struct{ lines []string }

func (r *recorder) Line(line []byte, cut bool) {
	if cut {
		line = fmt.Appendf(nil, "cut after %d", len(line))
	}
	r.lines = append(r.lines, string(line))
}
func (r *recorder) Activity() Activity              { return Activity{} }
func (r *recorder) Outcome(Exit, time.Time) Outcome { return Outcome{} }

func TestLines(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
	for text, want := range map[string][]string{
		"":                         nil,
		"a":                        {"a"},
		"a\n":                      {"a"},
		"a\nb":                     {"a", "b"},
		"\n\na\n\n":                {"", "", "a", ""},
		"a\r\nb\r\n":               {"a", "b"},
		"a\rb\r\r\n":               {"a\rb\r"},
		"\r\n\r":                   {"", ""},
		"a\x00\xff\n":              {"a\x00\xff"},
		long + "\nb\n":             {long, "b"},
		long + "y\nb\n":            {"cut after 8388608", "b"},
		long + long + long + "\nb": {"cut after 8388608", "b"},
		long + long:                {"cut after 8388608"},
		"a\n" + long + "y\n\nb":    {"a", "cut after 8388608", "", "b"},
	} {
		for _, size := range []int{1, 3, 4096, len(text) + 1} {
			if size < 4096 && len(text) > MaxLine {
				continue
			}
			var r recorder
			lines := &Lines{Parser: &r}
			for piece := range slices.Chunk([]byte(text), size) {
				if n, err := lines.Write(piece); n != len(piece) || err != nil {
					t.Fatalf("Write returned %d, %v", n, err)
				}
			}
			if lines.Close(); !slices.Equal(r.lines, want) {
				t.Errorf("%.20q in pieces of %d: %.40q", text, size, r.lines)
			}
			if cap(lines.part) > MaxLine {
				t.Errorf("%.20q in pieces of %d: a buffer of %d bytes", text, size, cap(lines.part))
			}
		}
	}
}

// asker is a Parser that is asked after each line what was heard, as a Session asks it.
type asker struct{ Parser }

func (a asker) Line(line []byte, cut bool) {
	a.Parser.Line(line, cut)
	a.Activity()
}

// BenchmarkLines measures how fast output is read: what Claude Code prints, with lines of several lengths, and plain
// text. Pieces are as large as those that os/exec copies.
func BenchmarkLines(b *testing.B) {
	sample, err := os.ReadFile("testdata/claude/success.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	partial, err := os.ReadFile("testdata/claude/partial-messages.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	says := func(n int) []byte {
		code := `\tif err := f(x); err != nil { return \"text\" }\n`
		return []byte(strings.Replace(says, "a text", strings.Repeat(code, n/len(code)), 1))
	}
	for _, row := range []struct {
		name string
		new  func() Parser
		text []byte
	}{
		{"samples", NewClaude, sample}, {"partial", NewClaude, partial},
		{"1KB", NewClaude, says(1 << 10)}, {"100KB", NewClaude, says(100 << 10)}, {"4MB", NewClaude, says(4 << 20)},
		{"too-long", NewClaude, says(64 << 20)}, {"not-JSON", NewClaude, bytes.Repeat([]byte("{some text}\n"), 1000)},
		{"text", NewText, bytes.Repeat([]byte("\x1b[32mok\x1b[0m  \tsome/package\t(cached)\n"), 1000)},
		{"text-4MB", NewText, bytes.Repeat([]byte("x"), 4<<20)},
	} {
		b.Run(row.name, func(b *testing.B) {
			lines := &Lines{Parser: asker{row.new()}}
			b.SetBytes(int64(len(row.text)))
			b.ReportAllocs()
			for b.Loop() {
				for piece := range slices.Chunk(row.text, 32<<10) {
					lines.Write(piece)
				}
			}
		})
	}
}
