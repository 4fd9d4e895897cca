package loopdir

import (
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// TestSchemas checks which records are read: those with lanes, too.
func TestSchemas(t *testing.T) {
	many := "[" + strings.Repeat(`{"feature":"a"},`, decide.MaxLanes) + "{}]"
	for more, want := range map[string]string{
		`"schema":1,"lanes":[{"feature":"a","iteration":3},{}]`: "",
		`"schema":1`:                 "",
		`"schema":1,"lanes":` + many: "make no sense",
		`"schema":1,"lanes":"a"`:     "not of its kind",
		`"schema":2`:                 "another version",
		`"schema":4,"lanes":[{}]`:    "another version",
		`"schema":0,"lanes":[{}]`:    "make no sense",
	} {
		s, err := parseState([]byte(`{"status":"IN_PROGRESS","iteration":3,` + more + "}"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", more, err, want)
		}
		first := decide.Lane{Feature: "a", Iteration: 3}
		if err == nil && len(s.Lanes) > 0 && s.Lanes[0] != first {
			t.Errorf("%s: lanes %+v", more, s.Lanes)
		}
	}
}
