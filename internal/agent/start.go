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
// dir is a folder for files of the session, "" if there are none.
func (s Session) command() (argv []string, stdin []byte, dir string, err error) {
	argv = s.Row.Line(s.Options)
	argv[0], err = s.Row.Find(proc.Value(s.Env, "PATH"))
	if err != nil {
		return nil, nil, "", err
	}
	if s.Row.UsageFlag != "" || s.Row.PromptBy == ByFile {
		dir, err = os.MkdirTemp("", "ralph-prompt-")
		if err != nil {
			return nil, nil, "", err
		}
	}
	if s.Row.UsageFlag != "" {
		argv = slices.Insert(argv, len(argv)-len(s.Row.Last), s.Row.UsageFlag, filepath.Join(dir, usageFile))
	}
	switch s.Row.PromptBy {
	case ByArgument:
		if len(s.Prompt) > MaxArgument {
			return nil, nil, dir, fmt.Errorf("the prompt has %d bytes, and one argument may have %d; "+
				`let the agent read it from standard input ("prompt_by": "stdin")`, len(s.Prompt), MaxArgument)
		}
		if strings.HasPrefix(s.Prompt, "-") { // it is no flag
			return append(argv, "\n"+s.Prompt), []byte{}, dir, nil
		}
		return append(argv, s.Prompt), []byte{}, dir, nil
	case ByFile:
		path := filepath.Join(dir, "prompt.md")
		return append(argv, path), []byte{}, dir, os.WriteFile(path, []byte(s.Prompt), 0o600)
	}
	return argv, []byte(s.Prompt), dir, nil
}

// usageFile is the name of the file into which an agent writes what it used.
const usageFile = "usage.json"
