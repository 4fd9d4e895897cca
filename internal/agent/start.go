package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// command returns the command line and the standard input.
func (s Session) command() (argv []string, stdin []byte, files tempFiles, err error) {
	argv = s.Row.Line(s.Asked)
	argv[0], err = s.Row.Find(proc.Value(s.Env, "PATH"))
	if err != nil {
		return nil, nil, "", err
	}
	if s.Row.UsageFlag != "" || s.Row.PromptBy == ByFile {
		if err := files.make(); err != nil {
			return nil, nil, "", err
		}
	}
	if s.Row.UsageFlag != "" {
		argv = slices.Insert(argv, len(argv)-len(s.Row.Last), s.Row.UsageFlag, files.path(usageFile))
	}
	switch s.Row.PromptBy {
	case ByArgument:
		if len(s.Prompt) > MaxArgument {
			return nil, nil, files, fmt.Errorf("the prompt has %d bytes, and one argument may have %d; "+
				`let the agent read it from standard input ("prompt_by": "stdin")`, len(s.Prompt), MaxArgument)
		}
		if strings.HasPrefix(s.Prompt, "-") { // it is no flag
			return append(argv, "\n"+s.Prompt), []byte{}, files, nil
		}
		return append(argv, s.Prompt), []byte{}, files, nil
	case ByFile:
		path := files.path("prompt.md")
		return append(argv, path), []byte{}, files, os.WriteFile(path, []byte(s.Prompt), 0o600)
	}
	return argv, []byte(s.Prompt), files, nil
}

// tempFiles is the path of a folder for files of a session, or "".
type tempFiles string

// usageFile is the name of the file into which an agent writes what it used.
const usageFile = "usage.json"

func (f *tempFiles) make() error {
	dir, err := os.MkdirTemp("", "ralph-prompt-")
	*f = tempFiles(dir)
	return err
}

func (f tempFiles) path(name string) string { return filepath.Join(string(f), name) }

func (f tempFiles) remove() {
	if f != "" {
		_ = os.RemoveAll(string(f))
	}
}
