package locked

import (
	"path"
	"regexp"
	"sync"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
)

// Replace returns the command with other files instead of some that it names. files has their
// paths, by key. The result is false if that cannot be done for all of them.
func Replace(c config.Command, project, home string, files map[string]string) (config.Command, bool) {
	for _, file := range files {
		if !plainPath().MatchString(file) {
			return c, false
		}
	}
	replaced := map[string]bool{}
	put := func(word string) string {
		key := path.Clean(Below(project, home, word))
		if file, is := files[key]; is {
			replaced[key] = true
			return file
		}
		return word
	}
	if c.Shell != "" {
		c.Shell = shellWord().ReplaceAllStringFunc(config.FromRoot(c.Shell), put)
	}
	argv := c.Argv
	c.Argv = nil
	for _, word := range argv {
		c.Argv = append(c.Argv, put(word))
	}
	return c, len(replaced) == len(files)
}

var (
	// plainPath is a path that needs no quotes in a shell line, within quotes or without.
	plainPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./:\\-]+$`) })
	// shellWord is a word, or a part of one, that can be a file's name as it stands.
	shellWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\w./~+@%-]+`) })
)
