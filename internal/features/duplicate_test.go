package features

import (
	"strings"
	"testing"
)

// TestParseTwice has keys that are there twice beside the items of a list.
func TestParseTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{"features":[{"title":"a"}],"x":1,"x":2}`:                           `the key "x" appears twice`,
		`{"features":{"tasks":[]},"features":[{"title":"a"}]}`:               `the key "features" appears twice`,
		`{"t":{"tasks":[{"title":"a"}]},"\u0074":{"tasks":[{"title":"b"}]}}`: `the key "t" appears twice`,
		`{"t":{"tasks":{},"tasks":[{"title":"a"}]}}`:                         `the key "tasks" appears twice`,
		"{\"title\":\"a\",\"x\":1,\"x\":2}\n{\"title\":\"b\",\"x\":1}\n":     "",
	} {
		_, err := Parse([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
