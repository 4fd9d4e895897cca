package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/seeds"
)

// FuzzWireIn reads any bytes as standard input. The result must be an error and no event, or
// the same values that encoding/json reads.
func FuzzWireIn(f *testing.F) {
	seeds.Add(f, "*.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ReadEvent(bytes.NewReader(data), nil)
		if err := wireIn(data, e, err); err != nil {
			t.Fatal(err)
		}
		// An answer with these texts must be one line of JSON with the same texts.
		for _, a := range []Answer{
			{}, {Message: e.LastMessage}, {Prompt: e.LastMessage, Message: e.Prompt},
			{Prompt: e.Prompt, AsContext: true}, {Message: e.Error, End: true}, {Context: e.Cwd},
		} {
			if err := wireOut(a, a.Encode()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// wireIn checks what Read returned for data.
func wireIn(data []byte, e Event, err error) error {
	text := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err != nil {
		if !reflect.DeepEqual(e, Event{}) {
			return fmt.Errorf("an event with the error %v", err)
		}
		return nil
	}
	var want map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber() // a number may be out of any range
	if err := dec.Decode(&want); err != nil || want == nil || !json.Valid(text) {
		return fmt.Errorf("accepted %q: %v", data, err)
	}
	if bytes.Contains(bytes.ToLower(text), []byte(`\ud`)) {
		return nil // readers treat half a surrogate pair differently
	}
	is := func(got, key string) error {
		value, isText := want[key].(string)
		// Of two equal keys, Read takes the last one with a text. An escape may hide a key.
		twice := bytes.Count(text, []byte(key)) > 1 || bytes.Contains(text, []byte(`\u`))
		if isText && string([]rune(got)) == value || !isText && (got == "" || twice) {
			return nil
		}
		return fmt.Errorf("%s is %q, want %v", key, got, want[key])
	}
	return errors.Join(
		is(e.Name, "hook_event_name"), is(e.SessionID, "session_id"), is(e.AgentID, "agent_id"), is(e.Cwd, "cwd"),
		is(e.PermissionMode, "permission_mode"), is(e.LastMessage, "last_assistant_message"),
		is(e.PromptID, "prompt_id"),
		is(e.Transcript, "transcript_path"), is(e.Error, "error"),
	)
}

// wireOut checks that out is the encoded answer a.
func wireOut(a Answer, out []byte) error {
	if a == (Answer{}) {
		if out != nil {
			return fmt.Errorf("the zero answer is %q", out)
		}
		return nil
	}
	var got struct {
		Decision, Reason, SystemMessage string
		Continue                        bool
		HookSpecificOutput              struct{ HookEventName, AdditionalContext string }
	}
	line, one := bytes.CutSuffix(out, []byte("\n"))
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil || !one || bytes.ContainsAny(line, "\r\n\x00") {
		return fmt.Errorf("%+v is %q: %v", a, out, err)
	}
	if !json.Valid(line) {
		return fmt.Errorf("%+v is more than one object: %q", a, out)
	}
	blocks := got.Decision == "block" && got.Reason != "" || got.HookSpecificOutput.HookEventName == "Stop"
	if blocks != (a.Prompt != "") || got.Decision != "" && got.Decision != "block" || got.Continue != a.End {
		return fmt.Errorf("%+v is %q", a, out)
	}
	if got.SystemMessage != string([]rune(a.Message)) {
		return fmt.Errorf("%q arrives as %q", a.Message, got.SystemMessage)
	}
	return nil
}

// TestWireControls checks that the properties above reject bad results.
func TestWireControls(t *testing.T) {
	text := `{"session_id":"a","hook_event_name":"Stop"}`
	good, err := ReadEvent(strings.NewReader(text), nil)
	if err := wireIn([]byte(text), good, err); err != nil {
		t.Fatal(err)
	}
	bad := good
	bad.SessionID = "b"
	for name, err := range map[string]error{
		"another session":    wireIn([]byte(text), bad, nil),
		"half of it":         wireIn([]byte(text[:10]), good, nil),
		"an event and error": wireIn([]byte(text), good, errors.New("x")),
		"no block":           wireOut(Answer{Prompt: "p"}, []byte("{\"reason\":\"p\"}\n")),
		"a block": wireOut(Answer{Message: "m"},
			[]byte("{\"decision\":\"block\",\"reason\":\"p\",\"systemMessage\":\"m\"}\n")),
		"two objects":      wireOut(Answer{Message: "m"}, []byte("{\"systemMessage\":\"m\"}{}\n")),
		"two lines":        wireOut(Answer{Message: "m"}, []byte("{\n\"systemMessage\":\"m\"}\n")),
		"text for nothing": wireOut(Answer{}, []byte("{}\n")),
		"an unknown decision": wireOut(Answer{Message: "m"},
			[]byte("{\"decision\":\"allow\",\"systemMessage\":\"m\"}\n")),
	} {
		if err == nil {
			t.Errorf("control: %s was not caught", name)
		}
	}
}

// FuzzParseTail reads any bytes as the end of a transcript. The result must be in bounds, and
// lines that do not belong to the conversation must not change it.
func FuzzParseTail(f *testing.F) {
	seeds.Add(f, "*.jsonl")
	f.Add([]byte(called + said + feedback + failed))
	f.Add([]byte(compact + synth + sub))
	f.Fuzz(func(t *testing.T, data []byte) {
		now := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
		got := ParseTail(data, now)
		wait := got.RetryAt.Sub(now)
		badRetry := !got.RetryAt.IsZero() && (wait <= 0 || wait > maxRetry || got.Error == "")
		if got.Context < -1 || got.Context > 4<<30 || badRetry {
			t.Fatalf("%+v", got)
		}
		if len(data) > 0 && data[len(data)-1] != '\n' {
			data = append(data, '\n')
			got = ParseTail(data, now)
		}
		for _, line := range []string{sub, feedback, "\x00\xff\n", "\"assistant\" [[[[{\n", "\r\n\r\n"} {
			if again := ParseTail(append(data[:len(data):len(data)], line...), now); again != got {
				t.Fatalf("%q changed %+v to %+v", line, got, again)
			}
		}
		want := decide.Tail{ToolCall: time.Date(2026, 11, 21, 5, 0, 1, 0, time.UTC), Context: 43210}
		if again := ParseTail(append(data[:len(data):len(data)], called+said...), now); again != want {
			t.Fatalf("%+v, want %+v with any text before", again, want)
		}
	})
}
