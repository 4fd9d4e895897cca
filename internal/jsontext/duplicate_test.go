package jsontext

import "testing"

func TestTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "", `[]`: "", `1`: "", `"a"`: "", `{"a":1,"b":1}`: "", `[{"a":1},{"a":1}]`: "", `{"a":{"a":{"a":1}}}`: "",
		`{"a":1,"a":1}`:      "a",
		`{"a":1,"\u0061":2}`: "a",
		`{"x":[1,{"y":{"b":1,"c":2,"b":[]}}],"z":1}`: "b",
		`[[[{"d":{},"d":null}]],{"e":1,"e":1}]`:      "d",
		`{"":1,"a":{"":1}}`:                          "",
	} {
		if _, err := Check([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := DuplicateKey(text); got != want {
			t.Errorf("%s has %q twice, want %q", text, got, want)
		}
	}
}
