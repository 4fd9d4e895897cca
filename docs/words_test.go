package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// withdrawn matches words that people no longer meet, as words of their own.
var withdrawn = regexp.MustCompile(`(?i)(?:^|[^-./\w])(stale|room|leg|cap|rivals|lately|must hold)\b`)

// term matches a term of the glossary.
var term = regexp.MustCompile(`(?m)^\* \*\*([^*]+)\*\*: `)

// TestConcepts bounds what a person has to know before the first proven feature and before the first night, and checks
// that each term is explained where the README or the guide meets it, too.
func TestConcepts(t *testing.T) {
	guide, err := os.ReadFile("guide.md")
	if err != nil {
		t.Fatal(err)
	}
	before, glossary, _ := strings.Cut(string(guide), "\n## Glossary\n")
	feature, night, found := strings.Cut(glossary, "\nBefore the first night:\n")
	if !found || !strings.HasPrefix(feature, "\nBefore the first proven feature:\n") {
		t.Fatal("the glossary is not in two parts")
	}
	first, all := term.FindAllStringSubmatch(feature, -1), term.FindAllStringSubmatch(glossary, -1)
	if len(first) > 12 || len(all) > 20 || len(term.FindAllString(night, -1)) == 0 {
		t.Errorf("%d terms before the first proven feature, at most 12; %d before the first night, at most 20", len(first),
			len(all))
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if text := before + string(readme); !strings.Contains(strings.ToLower(text), m[1]) {
			t.Errorf("neither the README nor the guide explains %q", m[1])
		}
	}
}

// TestWords checks that the documents have no withdrawn words, and bounds their length. commands.md has the helps.
func TestWords(t *testing.T) {
	paths, err := filepath.Glob("*.md")
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}
	all := 0
	for _, path := range append(paths, "../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range withdrawn.FindAllStringSubmatch(string(text), -1) {
			t.Errorf("%s has the withdrawn word %q", path, m[1])
		}
		words := len(strings.Fields(string(text)))
		all += words
		if path == "../README.md" && words > 900 {
			t.Errorf("the README has %d words, at most 900", words)
		}
	}
	if all > 16000 {
		t.Errorf("the documents have %d words, at most 16000", all)
	}
	if !withdrawn.MatchString("the room is stale") || withdrawn.MatchString("./make-room.sh") {
		t.Error("control: withdrawn words are not told from others")
	}
}
