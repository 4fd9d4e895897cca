package locked

import (
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// ListChecks returns the checks that the features of a list bring, and those of their commands
// that name no existing program in the folders of a PATH.
func ListChecks(searchPath string, list decide.List) (checks []config.Check, manual []string) {
	isCommand := Commands(searchPath)
	for _, item := range list.Items {
		found, _ := config.ListChecks(item, func(command string) bool {
			is := isCommand(command)
			if !is && !slices.Contains(manual, command) {
				manual = append(manual, command)
			}
			return is
		})
		checks = append(checks, found...)
	}
	return checks, manual
}

// Commands returns IsCommand for a PATH. It looks for each command once: many features bring the same.
func Commands(searchPath string) func(command string) bool {
	known := map[string]bool{}
	return func(command string) bool {
		is, has := known[command]
		if !has {
			is = IsCommand(searchPath, command)
			known[command] = is
		}
		return is
	}
}

// IsCommand reports whether the first word of a shell line can be a program.
func IsCommand(searchPath, line string) bool {
	words := strings.Fields(line)
	for len(words) > 1 && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	_, err := proc.LookPath(words[0], searchPath)
	return err == nil || strings.ContainsAny(words[0], "/~$") || slices.Contains(builtins, words[0])
}

// builtins are words of the shell that a command may begin with.
var builtins = []string{"cd", ".", "source", "set", "export", "exec", "eval"}
