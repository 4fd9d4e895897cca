package loop

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
