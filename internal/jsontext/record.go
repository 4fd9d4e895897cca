package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tidwall/gjson"
)

// Read reads a record of ours, a JSON object, into the struct that record points to. It ignores unknown keys. It
// refuses a key that is there twice: a reader that takes the other one would read another record. The error is an
// *Error, or says which value is of another kind.
func Read(data []byte, record any) error {
	text, err := Check(data)
	if err != nil {
		return err
	}
	if !gjson.Parse(String(text)).IsObject() {
		return errors.New("want an object")
	}
	if key := DuplicateKey(String(text)); key != "" {
		return fmt.Errorf("the key %q is there twice", key)
	}
	err = json.Unmarshal(text, record)
	if kind, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return fmt.Errorf("the value of %q is not of its kind", kind.Field)
	}
	return err
}

// Line returns a value as JSON on one line, with its line end.
func Line(v any) ([]byte, error) { return encode(v, "") }

// Indent returns a value as indented JSON, for people.
func Indent(v any) ([]byte, error) { return encode(v, "  ") }

// Schema is the number of what commands and the page print as JSON. It rises when a field goes, or means something
// else.
const Schema = 1

// ForPrograms returns an object, or a list of objects, as indented JSON. Each begins with the number of the schema, if
// it has none of its own.
func ForPrograms(v any) ([]byte, error) {
	text, err := Line(v)
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return Indent(number(bytes.TrimSpace(text)))
	}
	for i := range list {
		list[i] = number(list[i])
	}
	return Indent(list)
}

// ForPages is ForPrograms for what may get into a page: it has no character of markup.
func ForPages(v any) ([]byte, error) {
	text, err := ForPrograms(v)
	var b bytes.Buffer
	json.HTMLEscape(&b, text)
	return b.Bytes(), err
}

func number(object []byte) json.RawMessage {
	if !bytes.HasPrefix(object, []byte(`{"`)) || bytes.HasPrefix(object, []byte(`{"schema":`)) {
		return object
	}
	return append(fmt.Appendf(nil, `{"schema":%d,`, Schema), object[1:]...)
}

func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}

// DuplicateKey returns the first key that an object of a valid JSON text has twice, at any
// depth, or "" if there is none. Readers differ in which of two equal keys they take, so
// a text that has one means one thing to us and another to the program that uses it.
func DuplicateKey(text string) string { return duplicateKey(gjson.Parse(text)) }

func duplicateKey(v gjson.Result) (key string) {
	if !v.IsObject() && !v.IsArray() {
		return ""
	}
	seen := map[string]bool{}
	for name, value := range v.ForEach {
		if v.IsObject() && seen[name.Str] {
			return name.Str
		}
		seen[name.Str] = true
		if key := duplicateKey(value); key != "" {
			return key
		}
	}
	return ""
}
