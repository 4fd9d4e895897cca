package jsontext

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Object is a JSON object whose values are variables. It has keys, each followed by
// another Object or by a pointer: to a string, int, int64, bool or time.Time, or to
// anything that encoding/json can read and write.
//
// A stop reads two records and writes one, so encoding/json would spend most of its time
// learning the types of the structs. With it, a stop of 2.0 ms took 0.2 ms longer.
type Object []any

// Line returns the object with all its fields on one line.
func (o Object) Line() ([]byte, error) { return o.add(nil, false) }

// Lines returns the object with a line for each field that is not zero. An inner Object
// is never zero, and is on one line.
func (o Object) Lines() ([]byte, error) { return o.add(nil, true) }

func (o Object) add(text []byte, lines bool) (_ []byte, err error) {
	before, colon, end := "", ":", "}"
	if lines {
		before, colon, end = "\n ", ": ", "\n}"
	}
	text = append(text, '{')
	begin := len(text)
	for i := 0; i < len(o); i += 2 {
		key, value := o[i].(string), o[i+1]
		if lines && isZero(value) {
			continue
		}
		if len(text) > begin {
			text = append(text, ',')
		}
		text = append(Quote(append(text, before...), key), colon...)
		switch v := value.(type) {
		case *string:
			text = Quote(text, *v)
		case *int:
			text = strconv.AppendInt(text, int64(*v), 10)
		case *int64:
			text = strconv.AppendInt(text, *v, 10)
		case *bool:
			text = strconv.AppendBool(text, *v)
		case *time.Time:
			text, err = v.AppendText(append(text, '"'))
			text = append(text, '"')
		case Object:
			text, err = v.add(text, false)
		default:
			var other []byte
			other, err = json.Marshal(v)
			text = append(text, other...)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return append(text, end...), nil
}

func isZero(value any) bool {
	switch v := value.(type) {
	case *time.Time:
		return v.IsZero()
	case Object:
		return false
	}
	return reflect.ValueOf(value).Elem().IsZero()
}

// Read sets the variables to the values in data, a JSON object. It ignores unknown keys,
// and null. It refuses a key that is there twice. The error is an *Error, or says which value
// has the wrong type; some variables are set then.
func (o Object) Read(data []byte) error {
	text, err := Check(data)
	if err != nil {
		return err
	}
	return o.set(gjson.Parse(String(text)))
}

func (o Object) set(object gjson.Result) error {
	if !object.IsObject() {
		return fmt.Errorf("want an object")
	}
	at := 0 // where to look first: the keys are mostly in order
	seen := make([]bool, len(o))
	for key, value := range object.ForEach {
		for range len(o) / 2 {
			name, to, n := o[at].(string), o[at+1], at
			if at += 2; at == len(o) {
				at = 0
			}
			if name == key.Str {
				if seen[n] {
					return fmt.Errorf("the key %q is there twice", name)
				}
				seen[n] = true
				if value.Type != gjson.Null && !set(to, value) {
					return fmt.Errorf("the value of %q is not of its kind", name)
				}
				break
			}
		}
	}
	return nil
}

// set sets the variable that to points to. It returns false if value has the wrong type.
func set(to any, value gjson.Result) bool {
	var err error
	ok := value.Type == gjson.String
	switch v := to.(type) {
	case *string:
		*v = value.Str
	case *time.Time:
		err = v.UnmarshalText([]byte(value.Str))
	case *int:
		ok = value.Type == gjson.Number
		*v, err = strconv.Atoi(value.Raw)
	case *int64:
		ok = value.Type == gjson.Number
		*v, err = strconv.ParseInt(value.Raw, 10, 64)
	case *bool:
		ok = value.IsBool()
		*v = value.Bool()
	case Object:
		ok = true
		err = v.set(value)
	default:
		ok = true
		err = json.Unmarshal([]byte(value.Raw), v)
	}
	return ok && err == nil
}

// Quote appends s to text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func Quote(text []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	text = append(text, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			text = append(text, '\\', c)
		case c == '\n':
			text = append(text, `\n`...)
		case c < ' ':
			text = fmt.Appendf(text, `\u%04x`, c)
		default:
			text = append(text, c)
		}
	}
	return append(text, '"')
}
