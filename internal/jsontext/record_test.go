package jsontext

import (
	"testing"
	"time"
)

type record struct {
	Text  string           `json:"text"`
	N     int              `json:"n"`
	At    time.Time        `json:"at,omitzero"`
	Inner struct{ A bool } `json:"inner"`
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"n": 1, "inner": {"A": true}, "later": 3}`: "",
		`{"n": 1`:                     "line 1, column 8: the text ends too soon",
		`[]`:                          "want an object",
		`null`:                        "want an object",
		`{"n": 1, "n": 2}`:            `the key "n" is there twice`,
		`{"inner": {"A":1, "A":2}}`:   `the key "A" is there twice`,
		`{"n": "1"}`:                  `the value of "n" is not of its kind`,
		`{"n": 1.5}`:                  `the value of "n" is not of its kind`,
		`{"n": 99999999999999999999}`: `the value of "n" is not of its kind`,
		`{"text": 1}`:                 `the value of "text" is not of its kind`,
		`{"inner": {"A": 1}}`:         `the value of "inner.A" is not of its kind`,
		`{"inner": []}`:               `the value of "inner" is not of its kind`,
	} {
		var r record
		said := ""
		if err := Read([]byte(text), &r); err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("%s: %s, want %s", text, said, want)
		}
	}
	if err := Read([]byte(`{"at": "today"}`), new(record)); err == nil {
		t.Error("a time that is none was read")
	}
}
