package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/seeds"
)

// FuzzMerge merges into any bytes as the host's settings. The result is an error and
// nothing to write, or the same settings with one entry of ours. A second run changes
// nothing.
func FuzzMerge(f *testing.F) {
	seeds.Add(f, "*settings*.json", "*.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := merges(data, Merge); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
	})
}

// merges returns an error if merge breaks one of the properties on data.
func merges(data []byte, merge func([]byte, string, Entry) ([]byte, error)) error {
	out, err := merge(data, "Stop", entry)
	if err != nil {
		if out != nil {
			return fmt.Errorf("%q beside the error %w", out, err)
		}
		return nil
	}
	text := bytes.TrimPrefix(out, jsontext.BOM)
	if !json.Valid(text) || len(data)-len(bytes.TrimPrefix(data, jsontext.BOM)) != len(out)-len(text) {
		return fmt.Errorf("became %q", out)
	}
	if !has(out, "Stop") {
		return fmt.Errorf("became %q, without our entry", out)
	}
	if again, err := merge(out, "Stop", entry); err != nil || !bytes.Equal(again, out) {
		return fmt.Errorf("became %q and then %q: %v", out, again, err)
	}
	was, is := theirs(data), theirs(out)
	if !reflect.DeepEqual(was, is) {
		return fmt.Errorf("became %q: of what is not ours, %v is %v", out, was, is)
	}
	return nil
}

// theirs returns what settings say without our entries, and without the lists and
// groups that have nothing else in them.
func theirs(data []byte) map[string]any {
	all := map[string]any{}
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, jsontext.BOM)))
	dec.UseNumber()              // a number stays as it is spelt
	if dec.Decode(&all) != nil { // an empty file
		return map[string]any{}
	}
	hooks, _ := all["hooks"].(map[string]any)
	if list, is := hooks["Stop"].([]any); is {
		var left []any
		for _, group := range list {
			members, _ := group.(map[string]any)
			entries, is := members["hooks"].([]any)
			var kept []any
			for _, have := range entries {
				if raw, _ := json.Marshal(have); !has(fmt.Appendf(nil, `{"hooks":{"Stop":[{"hooks":[%s]}]}}`, raw),
					"Stop") {
					kept = append(kept, have)
				}
			}
			if is {
				members["hooks"] = kept
			}
			if !is || len(kept) > 0 || len(members) > 1 {
				left = append(left, group)
			}
		}
		hooks["Stop"] = left
	}
	maps.DeleteFunc(hooks, func(_ string, value any) bool {
		list, is := value.([]any)
		return is && len(list) == 0
	})
	if hooks != nil && len(hooks) == 0 {
		delete(all, "hooks")
	}
	return all
}

// TestMergeControls shows that the properties of FuzzMerge can fail.
func TestMergeControls(t *testing.T) {
	data := []byte(`{"model": "opus", "n": 1.0, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say"}]}]}}`)
	if err := merges(data, Merge); err != nil {
		t.Fatal(err)
	}
	after := func(edit func([]byte) []byte) func([]byte, string, Entry) ([]byte, error) {
		return func(data []byte, event string, e Entry) ([]byte, error) {
			out, err := Merge(data, event, e)
			return edit(out), err
		}
	}
	replaced := func(old, with string) func([]byte, string, Entry) ([]byte, error) {
		return after(func(out []byte) []byte { return bytes.Replace(out, []byte(old), []byte(with), 1) })
	}
	other := []byte(`{"hooks":{"Stop":[{"hooks":[{"command":"ralph-stop-hook"}]}]}}`)
	for name, broken := range map[string]func([]byte, string, Entry) ([]byte, error){
		"replaces the file":  after(func([]byte) []byte { return other }),
		"loses a key":        replaced(`"model": "opus", `, ""),
		"rounds a number":    replaced("1.0", "1"),
		"edits another hook": replaced(`"say"`, `"no"`),
		"adds each time":     after(func(out []byte) []byte { return append(out, ' ') }),
		"does nothing":       func(data []byte, _ string, _ Entry) ([]byte, error) { return data, nil },
		"breaks it":          after(func([]byte) []byte { return []byte("{") }),
	} {
		if merges(data, broken) == nil {
			t.Errorf("control: one that %s was not caught", name)
		}
	}
}

// has tells whether settings have an entry of ours. They need not be sound otherwise.
func has(data []byte, event string) bool {
	return len(oursIn(gjson.GetBytes(bytes.TrimPrefix(data, jsontext.BOM), "hooks."+event), event)) > 0
}
