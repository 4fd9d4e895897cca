package hostile

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// Foreign is a text as an agent, a list or a provider may give it: with escapes for the terminal, characters that turn
// or hide text, and a line of its own.
const Foreign = "a\x1b[31m\u202eb\x07\u200b\nforged: line\r\x9bc"

// Fill puts text into each string that a pointer leads to, one element into each list, and a 1 into each number.
func Fill(to any, text string) { fill(reflect.ValueOf(to).Elem(), text) }

func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem(), text)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Now().Add(time.Hour)))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), text)
			}
		}
	case reflect.Slice:
		if v.Type() != reflect.TypeFor[json.RawMessage]() {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), text)
		}
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	}
}

// Dirty returns what of Foreign nobody should be shown and a text still has, "" if it is clean.
func Dirty(text string) string {
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return string(r)
		}
	}
	if strings.Contains(text, "\nforged") {
		return "a line of its own"
	}
	return ""
}
