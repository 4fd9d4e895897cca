package features

import (
	"strings"
	"testing"
)

// TestParseTwice has keys that are there twice beside the items of a list.
func TestParseTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{"features":[{"title":"a"}],"x":1,"x":2}`:                           `the key "x" is there twice`,
		`{"features":{"tasks":[]},"features":[{"title":"a"}]}`:               `the key "features" is there twice`,
		`{"t":{"tasks":[{"title":"a"}]},"\u0074":{"tasks":[{"title":"b"}]}}`: `the key "t" is there twice`,
		`{"t":{"tasks":{},"tasks":[{"title":"a"}]}}`:                         `the key "tasks" is there twice`,
		"{\"title\":\"a\",\"x\":1,\"x\":2}\n{\"title\":\"b\",\"x\":1}\n":     "",
	} {
		_, err := Parse([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
