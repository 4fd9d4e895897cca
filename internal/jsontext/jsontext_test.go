package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/seeds"
)

func TestCheck(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": [1, "}]\"]["]}`:                  "",
		"\xef\xbb\xbf[]\r\n":                    "",
		"":                                      "line 1, column 1: nothing here, want JSON",
		" \r\n":                                 "line 1, column 1: nothing here, want JSON",
		"{\n  \"é\": x}":                        "line 2, column 8: invalid character 'x' looking for beginning of value",
		"\xef\xbb\xbf[1,\n2":                    "line 2, column 2: the text ends too soon",
		"[1] 2":                                 "line 1, column 5: invalid character '2' after top-level value",
		strings.Repeat("[", 201):                "line 1, column 201: nested deeper than 200 levels",
		`["\\",` + strings.Repeat(`{"":`, 500):  "line 1, column 803: nested deeper than 200 levels",
		`["\"` + strings.Repeat("[", 5_000_000): "line 1, column 5000005: the text ends too soon",
		"[\"a\tb\"]":                            `line 1, column 4: invalid character '\t' in string literal`,
		`["\u00g0"]`:                            `line 1, column 7: invalid character 'g' in \u hexadecimal character escape`,
		`[01]`:                                  "line 1, column 3: invalid character '1' after array element",
		`[1.]`: "line 1, column 4: " +
			"invalid character ']' after decimal point in numeric literal",
		`{"a":1,}`: "line 1, column 8: " +
			"invalid character '}' looking for beginning of object key string; take out the comma before it",
		`[-1.5e+3,0,-0E0,true,false,null]`: "",
	} {
		text, err := Check([]byte(in))
		if err == nil && (want != "" || !json.Valid(text)) || err != nil && err.Error() != want {
			t.Errorf("Check(%.40q) = %v, want %q", in, err, want)
		}
	}
}

// FuzzCheck compares Check with encoding/json, which has another limit of depth.
func FuzzCheck(f *testing.F) {
	seeds.Add(f, "*.json")
	f.Add([]byte("\xef\xbb\xbf{\"a\":[1,\"\\\"]\"]}"))
	f.Add([]byte(`{"\u00a7\\\"":-1.5e+3,"b":[{},[],null,true,false,0]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := Check(data)
		if err == nil && !json.Valid(text) {
			t.Fatalf("accepted %q", data)
		}
		if at := (*Error)(nil); err != nil &&
			(!errors.As(err, &at) || at.Line < 1 || at.Col < 1 || at.Line > 1+bytes.Count(data, []byte("\n"))) {
			t.Fatalf("refused %q at no place of it: %v", data, err)
		}
		if err != nil && json.Valid(data) && !strings.Contains(err.Error(), "nested deeper") {
			t.Fatalf("refused %q: %v", data, err)
		}
	})
}
