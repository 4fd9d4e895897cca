package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// The texts that init writes.

const exampleList = `{
  "$schema": "` + features.Schemas + `features.schema.json",
  "features": [
    {
      "id": "hello",
      "title": "Say hello",
      "description": "hello.txt holds one line: Hello, world.",
      "passes": false
    },
    {
      "id": "goodbye",
      "title": "Say goodbye",
      "description": "goodbye.txt holds one line: Goodbye, world.",
      "dependencies": ["hello"],
      "passes": false
    }
  ]
}
`

const ignoreText = `# what the hook writes for itself
hook.log
hook.log.1
checks.log
checks.log.1
iterations.jsonl
iterations.jsonl.1
list.bak
.state/
.*.txt[0-9]*
`

// prompt is the text that starts the session.
func (i *initialiser) prompt() string {
	loop := filepath.ToSlash(filepath.Join(loopdir.Below, i.name))
	next, _ := i.found.Next()
	list := cmp.Or(i.list, loop+"/"+loopdir.ListFile)
	return fmt.Sprintf(loopdir.Marker+`%s

Work through the features in %s, one at a time, the most important first.

For each feature:
%s
End your turn after each feature. A Stop hook then gives you the next one, until
every feature passes.

%s`, loop, list, wordsSteps(wordsClaim(loaded{snap: decide.Snapshot{List: i.found}}, next, list), loop+"/"+loopdir.ProgressFile), wordsGiveUp)
}

func indentJSON(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.String(), err
}

// quoteArg quotes a word for a POSIX shell, so that it can be pasted.
func quoteArg(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
