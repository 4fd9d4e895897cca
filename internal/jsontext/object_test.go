package jsontext

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

type record struct {
	Text  string             `json:"text,omitempty"`
	N     int                `json:"n,omitempty"`
	Big   int64              `json:"big,omitempty"`
	Is    bool               `json:"is,omitempty"`
	At    time.Time          `json:"at,omitzero"`
	Inner struct{ A string } `json:"inner"`
	Many  map[string][]int   `json:"many,omitempty"`
}

func (r *record) object() Object {
	return Object{
		"text", &r.Text, "n", &r.N, "big", &r.Big, "is", &r.Is, "at", &r.At, "inner", Object{"A", &r.Inner.A},
		"many", &r.Many,
	}
}

// TestObject compares reading and writing with encoding/json on the same record.
func TestObject(t *testing.T) {
	full := record{
		"a\"b\\c\n\t\x01</p> é 🙂\u2028", -7, math.MaxInt64, true, time.Date(2026, 11, 21, 14, 0, 0, 5e6, time.UTC),
		struct{ A string }{"x"}, map[string][]int{"k": {1, 2}},
	}
	for name, r := range map[string]record{"zero": {}, "full": full, "half": {N: 3, Text: "bad \xff byte"}} {
		for how, add := range map[string]func(Object) ([]byte, error){"line": Object.Line, "lines": Object.Lines} {
			text, err := add(r.object())
			if err != nil {
				t.Fatal(err)
			}
			var theirs, ours record
			if err := json.Unmarshal(text, &theirs); err != nil {
				t.Fatalf("%s, %s: %v\n%s", name, how, err, text)
			}
			if err := ours.object().Read(text); err != nil {
				t.Fatalf("%s, %s: %v\n%s", name, how, err, text)
			}
			r.Text = strings.ToValidUTF8(r.Text, "\uFFFD")
			if !reflect.DeepEqual(theirs, r) || !reflect.DeepEqual(ours, r) {
				t.Errorf("%s, %s: %s\nencoding/json reads %+v\nwe read           %+v", name, how, text, theirs, ours)
			}
			if how == "lines" && name == "zero" && string(text) != "{\n \"inner\": {\"A\":\"\"}\n}" {
				t.Errorf("zero values are written: %s", text)
			}
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var ours record
		if err := ours.object().Read(text); err != nil || !reflect.DeepEqual(ours, r) {
			t.Errorf("%s: of %s we read %+v, %v", name, text, ours, err)
		}
	}
}

func TestObjectRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"n": 1`:                     "line 1, column 8: the text ends too soon",
		`[]`:                          "want an object",
		`{"n": "1"}`:                  `the value of "n" is not of its kind`,
		`{"n": 1.5}`:                  `the value of "n" is not of its kind`,
		`{"n": 99999999999999999999}`: `the value of "n" is not of its kind`,
		`{"text": 1}`:                 `the value of "text" is not of its kind`,
		`{"is": "true"}`:              `the value of "is" is not of its kind`,
		`{"at": "today"}`:             `the value of "at" is not of its kind`,
		`{"inner": []}`:               `the value of "inner" is not of its kind`,
		`{"many": {"k": 1}}`:          `the value of "many" is not of its kind`,
	} {
		if err := new(record).object().Read([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	late := record{At: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}
	if text, err := late.object().Line(); err == nil {
		t.Errorf("a time that nobody can read was written: %s", text)
	}
}
