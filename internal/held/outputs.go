package held

import (
	"bytes"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
)

const builtElsewhere = ": git ignores it, as a build output"

// output reports whether a file that a check names is the output of a build, in this check or
// elsewhere. It is if git ignores an output folder in which it lies, or the file itself, and only
// builds make files of its kind. A notifier's program is never one: only checks may run what the
// agent makes.
func (h *Holder) output(key string, kind bool) bool {
	isOutput := func(name string) bool { return slices.Contains(outputFolders, name) }
	if !kind && !slices.ContainsFunc(strings.Split(key, "/"), isOutput) || h.programs || config.Optional(key) ||
		h.Config.Protects(key) {
		return false
	}
	for i, c := range key {
		if c == '/' && h.ignored(key[:i+1]) { // below node_modules, a folder dist is not this project's
			return isOutput(path.Base(key[:i]))
		}
	}
	return kind && h.ignored(key)
}

// outputFolders are the names of folders for what builds make.
var outputFolders = []string{"build", "dist", "lib", "out", "output", "target", "_build", ".next", ".output"}

func (h *Holder) ignored(key string) bool {
	is, known := h.ignores[key]
	if !known {
		is = h.Git != nil && h.Git("check-ignore", "-q", "--", key) == 0
		h.ignores[key] = is
	}
	return is
}

func (h *Holder) tracked(key string) bool {
	return h.Git != nil && h.Git("--literal-pathspecs", "ls-files", "--error-unmatch", "--", key) == 0
}

// binary reports whether a file is not text.
func binary(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := f.Read(head)
	return bytes.IndexByte(head[:n], 0) >= 0
}
