package wordlist

import (
	"maps"
	"reflect"
	"slices"
	"testing"
)

func TestText(t *testing.T) {
	const text Text = "# about [this]\n\n# one\n[a b]\nx [ y\nz\n\n[lists]\nm, n o: 1\np:\nm: 2\n"
	if got := text.List("a b")(); !slices.Equal(got, []string{"x", "[", "y", "z"}) {
		t.Errorf("a list is %q", got)
	}
	if got := text.Set("a b")(); !maps.Equal(got, map[string]bool{"x": true, "[": true, "y": true, "z": true}) {
		t.Errorf("a set is %v", got)
	}
	want := map[string][]string{"m": {"1", "2"}, "n o": {"1"}, "p": nil}
	if got := text.Lists("lists")(); !reflect.DeepEqual(got, want) {
		t.Errorf("lists are %v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a section that is not there has words")
		}
	}()
	text.List("this")()
}
