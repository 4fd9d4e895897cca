package loopdir

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// left returns the names of the fields of a struct that the object does not point to.
func left(record reflect.Value, o jsontext.Object) (names []string) {
	known := map[uintptr]bool{}
	var know func(o jsontext.Object)
	know = func(o jsontext.Object) {
		for i := 1; i < len(o); i += 2 {
			if inner, is := o[i].(jsontext.Object); is {
				know(inner)
			} else {
				known[reflect.ValueOf(o[i]).Pointer()] = true
			}
		}
	}
	know(o)
	for i := range record.NumField() {
		if !known[record.Field(i).Addr().Pointer()] {
			names = append(names, record.Type().Field(i).Name)
		}
	}
	return names
}

// TestFields checks that a record is written with all of its fields.
func TestFields(t *testing.T) {
	var s decide.State
	var trust config.Trust
	for name, got := range map[string][]string{
		"State":        left(reflect.ValueOf(&s).Elem(), s.Fields()),
		"State.Header": left(reflect.ValueOf(&s.Header).Elem(), s.Fields()),
		"State.Before": left(reflect.ValueOf(&s.Before).Elem(), s.Fields()),
		"Trust":        left(reflect.ValueOf(&trust).Elem(), trust.Fields()),
	} {
		if len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := left(reflect.ValueOf(&s).Elem(), s.Fields()[2:]); len(got) != 1 || got[0] != "Schema" {
		t.Errorf("control: without its first key %v is reported, want Schema", got)
	}
}

// TestSchemas checks which records are read: those of a run with lanes, too, and no others of their version.
func TestSchemas(t *testing.T) {
	many := "[" + strings.Repeat(`{"feature":"a"},`, decide.MaxLanes) + "{}]"
	for more, want := range map[string]string{
		`"schema":1`: "",
		`"schema":2,"lanes":[{"feature":"a","attempts":2,"iteration":3},{}]`: "",
		`"schema":2`:                 "make no sense",
		`"schema":1,"lanes":[{}]`:    "make no sense",
		`"schema":2,"lanes":` + many: "make no sense",
		`"schema":2,"lanes":"a"`:     "not of its kind",
		`"schema":3,"lanes":[{}]`:    "a later version",
		`"schema":0,"lanes":[{}]`:    "make no sense",
	} {
		s, err := parseState([]byte(`{"status":"IN_PROGRESS","iteration":3,` + more + "}"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", more, err, want)
		}
		first := decide.Lane{Feature: "a", Attempts: 2, Iteration: 3}
		if err == nil && s.Schema == decide.SchemaLanes && s.Lanes[0] != first {
			t.Errorf("%s: lanes %+v", more, s.Lanes)
		}
	}
}
