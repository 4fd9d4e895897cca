package jsontext

import "testing"

// TestEnd gives each text byte by byte, and at once.
func TestEnd(t *testing.T) {
	for text, want := range map[string]int{
		`{}`: 2, `{"a":1}`: 7, " \n{\"a\":[{}]}\n": 12, `{"a":"}"}`: 9, `{"a":"\"}"}`: 11, `{"a":"\\"}`: 10,
		`[1,{"b":"]"}]`: 13, `{"a":1`: 0, `{"a":"}`: 0, `{"a":"\`: 0, ``: 0, `12`: 0, `{} {}`: 2, `}`: 1, `{"é":"🙂"}`: 13,
	} {
		var e, once End
		got := 0
		for n := range len(text) + 1 {
			if e.Found([]byte(text[:n])) {
				got = n
				break
			}
		}
		if got != want || once.Found([]byte(text)) != (want > 0) {
			t.Errorf("%s ends at %d, want %d", text, got, want)
		}
	}
}
