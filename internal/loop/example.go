package loop

import "github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"

// ExampleList is the list of a loop for which a person has none yet.
const ExampleList = `{
  "$schema": "https://raw.githubusercontent.com/ralph-stop-hook/ralph-stop-hook/main/hooks/features.schema.json",
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

// IsExample reports whether a list is still the example, which a person is to write over.
func IsExample(path string) bool {
	text, err := loopdir.ReadAny(path, int64(len(ExampleList)))
	return err == nil && string(text) == ExampleList
}
