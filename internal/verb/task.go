package verb

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// maxTask is the largest task, in bytes. A shell passes the prompt to the client as one argument,
// which Linux lets have 128 KiB.
const maxTask = 100 << 10

// Task is what a loop without a list is for.
type Task struct {
	Text string // as the person wrote it; empty: nobody said it
	Line string // its beginning, as one line

	file string
}

// Flags defines --prompt and --prompt-file.
func (t *Task) Flags(f *pflag.FlagSet) {
	f.StringVar(&t.Text, "prompt", "", "create a loop without a list for the task `TEXT`")
	f.StringVar(&t.file, "prompt-file", "", "read the task from `FILE`")
}

// Read reads the task that the flags give. It leaves t zero if they give none.
func (t *Task) Read(given func(flag string) bool) error {
	switch text, file := given("prompt"), given("prompt-file"); {
	case text && file:
		return cli.Usagef("--prompt and --prompt-file do not go together")
	case !text && !file:
		return nil
	case given("features"):
		return cli.Usagef("--features names a list, and --prompt is for a loop without one; leave one of them out")
	case file:
		read, err := loopdir.ReadAny(t.file, maxTask)
		if err != nil {
			return cli.Usagef("--prompt-file: %w", err)
		}
		t.Text = string(read)
	}
	t.Text = strings.TrimSpace(t.Text)
	if t.Text == "" || len(t.Text) > maxTask || !utf8.ValidString(t.Text) || strings.ContainsRune(t.Text, 0) {
		return cli.Usagef("the prompt must be a text of at most %d KB", maxTask>>10)
	}
	t.Line = plain.Line(t.Text, say.MaxTask)
	return nil
}
