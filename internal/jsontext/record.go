package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Read reads a record of ours, a JSON object, into the struct that record points to. It ignores unknown keys. It
// refuses a key that is there twice: a reader that takes the other one would read another record. The error is an
// *Error, or says which value is of another kind.
func Read(data []byte, record any) error {
	text, err := Check(data)
	if err != nil {
		return err
	}
	if s := (Scanner{Text: String(text)}); s.Peek() != '{' {
		return errors.New("want an object")
	}
	if key := Twice(String(text)); key != "" {
		return fmt.Errorf("the key %q is there twice", key)
	}
	err = json.Unmarshal(text, record)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("the value of %q is not of its kind", kind.Field)
	}
	return err
}

// Line returns a value as JSON on one line, with its line end.
func Line(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
