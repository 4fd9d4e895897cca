package features

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct{ name, in, ids, open, next string }{
		{
			"array", `[{"category":"functional","description":"d","steps":["a"],"passes":true},{"description":"e"}]`,
			"#1 #2", "#2", "#2",
		},
		{
			"wrapped",
			"\xef\xbb\xbf{\"project\":\"p\",\"features\":[{\"id\":7,\"passes\":false},{\"id\":\"b\",\"passes\":null}]}\r\n",
			"7 b", "7 b", "7",
		},
		{
			"prd", `{"userStories":[{"id":"US-002","priority":2,"passes":false},{"id":"US-001","priority":1,"passes":false}]}`,
			"US-002 US-001", "US-002 US-001", "US-001",
		},
		{"priority words", `[{"id":"a","priority":"low"},{"id":"b","priority":"high"},{"id":"c"}]`, "a b c", "a b c",
			"b"},
		{"P0 before P1", `[{"id":"a","priority":"P1"},{"id":"b","priority":"P0"}]`, "a b", "a b", "b"},
		{
			"subtasks of one title", `[{"id":7,"subtasks":[{"title":"Test it"},{"title":"Test it"}]}]`,
			"7.test-it 7.#2 7", "7.test-it 7.#2 7", "7.test-it",
		},
		{"an id that nobody can see", `[{"id":"\u200b"},{"id":" "}]`, "#1 #2", "#1 #2", "#1"},
		{"all pass", `[{"id":"a","passes":true}]`, "a", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, err := Parse([]byte(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, item := range l.Items {
				ids = append(ids, item.ID)
			}
			next, _ := l.Next()
			if strings.Join(ids, " ") != tc.ids || strings.Join(l.Open(), " ") != tc.open || next.ID != tc.next {
				t.Errorf("ids %q open %q next %q", ids, l.Open(), next.ID)
			}
		})
	}
}

func TestReopen(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{
			"\xef\xbb\xbf[\r\n\t{\"passes\" : true,\"id\":\"b\", \"n\": 1.0},\r\n{\"id\":\"a\",\"passes\":true}]",
			"\xef\xbb\xbf[\r\n\t{\"passes\" : false,\"id\":\"b\", \"n\": 1.0},\r\n{\"id\":\"a\",\"passes\":true}]",
		},
		{
			`{"passes":true,"features":[{"id":"a","passes":true},{"id":"b","p\u0061sses":true}]}`,
			`{"passes":true,"features":[{"id":"a","passes":true},{"id":"b","p\u0061sses":false}]}`,
		},
		{
			`{"userStories":[{"id":"b","passes":true,"\u00a7":true},{"id":"c","passes":true}]}`,
			`{"userStories":[{"id":"b","passes":false,"\u00a7":true},{"id":"c","passes":false}]}`,
		},
		{`[{"id":"b","passes":false},{"id":"c"}]`, `[{"id":"b","passes":false},{"id":"c"}]`},
	} {
		l, err := Parse([]byte(tc.in))
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Mark([]byte(tc.in), l, []string{"c", "b"}, false)
		if gone := !strings.Contains(tc.in, `"c"`); gone == (err == nil) {
			t.Errorf("%s: %v", tc.in, err)
		} else if gone {
			got, err = l.Mark([]byte(tc.in), l, []string{"b"}, false)
		}
		if err != nil || string(got) != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.in, got, tc.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"empty file", " \n", "line 1, column 1: nothing here"},
		{"trailing comma", "[\n  {\"id\": 1},\n]", "line 3, column 1: invalid character ']'"},
		{"cut off", "[\n  {\"id\": 1", "line 2, column 11: the text ends too soon"},
		{"column counts characters", `["é", x]`, "line 1, column 7: invalid character 'x'"},
		{"text as passes", "[\n{\"id\":1,\"passes\":\"true\"}]",
			`line 2, column 18: item 1: "passes" must be true or false`},
		{"passes twice", `[{"passes":false,"passes":true}]`, `line 1, column 18: item 1 has the key "passes" twice`},
		{"id twice", `[{"id":1,"id":2}]`, `item 1 has the key "id" twice`},
		{"escaped spelling of a key", `[{"passes":false,"p\u0061sses":true}]`, `item 1 has the key "passes" twice`},
		{"one id for two", "[{\"id\":1},\n{\"id\":\"1\"}]", "line 2, column 1: items 1 and 2 have the same id"},
		{
			"one id for two, below a key", "{\"features\":[{\"id\":1},\n {\"id\":1}]}",
			"line 2, column 2: items 1 and 2 have the same id",
		},
		{"the id of an item without one", `[{"id":"#2"},{}]`, "items 1 and 2 have the same id"},
		{
			"a long id", `[{"id":"` + strings.Repeat("x", 501) + `"}]`,
			"line 1, column 8: the id of item 1 is longer than 500 bytes",
		},
		{"millions of items", "[" + strings.Repeat("{},", 1_000_000) + "{}]", "more than 250000 items"},
		{"millions of lines", strings.Repeat("{}\n", 1_000_000), "line 250001, column 1: more than 250000 items"},
		{
			"subtasks of subtasks of subtasks",
			`{"tasks":[` + strings.Repeat(`{"id":1,"subtasks":[`, 6) + strings.Repeat("]}", 6) + "]}",
			"subtasks nested deeper than 4 levels",
		},
		{
			"one object that is no item", "{\"id\":1,\n\"title\":\"t\",\"status\":\"s\",\"items\":[]}",
			"want an array of features",
		},
		{"item is text", `[{"id":1},"two"]`, "line 1, column 11: item 2 must be an object"},
		{"a subtask is text", `[{"id":1,"subtasks":[{"id":1},"two"]}]`, "line 1, column 31: item 2 must be an object"},
		{"another object", `{"tasks":{}}`, "want an array of features"},
		{"a phase without tasks", `{"phases":[{"tasks":[{"id":1}]},{"name":"x"}]}`, `phase 2 has no "tasks"`},
		{"a phase that is a text", `{"phases":[{"tasks":[{"id":1}]},"x"]}`, `phase 2 is not an object with "tasks"`},
		{"two lists", `{"features":[],"features":[]}`, "more than one array"},
		{"UTF-16", "\xff\xfe[\x00]\x00", "line 1, column 1: this is UTF-16"},
		{"UTF-16, the other way round", "\xfe\xff\x00[\x00]", "line 1, column 1: this is UTF-16"},
		{"a number", `7`, "want an array of features"},
		{"deep", strings.Repeat("[", 2_000_000), "line 1, column 201: nested deeper"},
		{"deep behind a string", `["\\\"[[[",` + strings.Repeat("[", 500), "nested deeper"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse([]byte(tc.in))
			var syntax *jsontext.Error
			if !errors.As(err, &syntax) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
	for _, in := range []string{"[]", `{"features":[]}`, `{"userStories":[]}`} {
		if _, err := Parse([]byte(in)); !errors.Is(err, ErrEmpty) {
			t.Errorf("Parse(%s) = %v, want ErrEmpty", in, err)
		}
	}
}

func TestDigest(t *testing.T) {
	digest := func(in string) string {
		l, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		return l.Digest()
	}
	base := digest(`[{"id":"a"},{"id":"b","passes":true}]`)
	if base != digest(`[ {"id":"a","title":"reworded","passes":false}, {"passes":true,"id":"b"} ]`) {
		t.Error("the digest depends on more than ids and states")
	}
	for _, other := range []string{
		`[{"id":"a","passes":true},{"id":"b","passes":true}]`, `[{"id":"a"}]`, `[{"id":"b","passes":true},{"id":"a"}]`,
	} {
		if base == digest(other) {
			t.Errorf("same digest for %s", other)
		}
	}
}

// TestWording compares what lists say: what an agent notes in them, and how they are spelled, says nothing.
func TestWording(t *testing.T) {
	wording := func(in string) string {
		l, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		return l.Wording()
	}
	base := `[{"id":"a","title":"é","steps":["x","y"],"passes":false}]`
	for in, same := range map[string]bool{
		"[ {\"id\":\"a\",\n\"title\":\"\\u00e9\", \"steps\": [ \"x\",\n\"y\" ], \"passes\":true} ]":   true,
		`{"iteration_count":7,"features":[{"id":"a","title":"é","steps":["x","y"],"notes":"later"}]}`: true,
		`[{"id":"a","title":"e","steps":["x","y"]}]`:                                                  false,
		`[{"id":"a","title":"é","steps":["xy"]}]`:                                                     false,
		`[{"id":"b","title":"é","steps":["x","y"]}]`:                                                  false,
	} {
		if (wording(in) == wording(base)) != same {
			t.Errorf("%s says the same as %s: %v, want %v", in, base, !same, same)
		}
	}
	if wording("- [ ] a\n\n  found it\n") == wording("- [ ] a\n") {
		t.Error("text below an item of Markdown says nothing")
	}
}

// FuzzParse compares the parser with encoding/json: a list that is accepted is valid JSON,
// and both count the same items.
func FuzzParse(f *testing.F) {
	addLists(f)
	for _, seed := range []string{
		`[{"id":1,"passes":true},{"id":"b"}]`, `{"features":[{"passes":false}]}`,
		"\xef\xbb\xbf{\"userStories\":[{\"id\":\"US-1\",\"priority\":\"P0\"}]}\r\n", "[\n{},\n]",
		`{"master":{"tasks":[{"id":1,"subtasks":[{"id":1}],"dependencies":["1.1"]}]}}`,
		"{\"id\":\"bd-1\",\"status\":\"open\"}\n{\"id\":\"bd-2\"}", "# x\n- [ ] a\n  b\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse(data)
		if err != nil {
			var syntax *jsontext.Error
			if errors.As(err, &syntax) && (syntax.Line < 1 || syntax.Col < 1) {
				t.Fatalf("no place in %v", err)
			}
			return
		}
		text := []byte(strings.TrimPrefix(string(data), "\xef\xbb\xbf"))
		if bytes.Contains(text, []byte("_type")) || bytes.Contains(text, []byte(`\u`)) {
			return // perhaps a memory of beads, which is no item
		}
		whole := 0
		for _, item := range l.all {
			if !item.isSubtask {
				whole++
			}
		}
		var items []json.RawMessage
		var root map[string]json.RawMessage
		switch l.shape {
		case checkboxes:
			return
		case lines:
			for d := json.NewDecoder(bytes.NewReader(text)); err == nil; {
				var item map[string]json.RawMessage
				err = d.Decode(&item)
				if err == nil {
					items = append(items, nil)
				}
			}
			if err == io.EOF {
				err = nil
			}
		case array:
			err = json.Unmarshal(text, &items)
		default:
			err = json.Unmarshal(text, &root)
			if list := root[l.shape.key]; err == nil && len(list) > 0 && list[0] == '[' {
				err = json.Unmarshal(list, &items)
			} else {
				whole = 0 // Task Master
			}
		}
		if err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		if len(items) != whole || len(l.all) != len(l.Items)+len(l.Dropped) ||
			len(l.Open()) != len(l.Items)-l.Passed() {
			t.Fatalf("%d items, want %d; %d open, %d passed", whole, len(items), len(l.Open()), l.Passed())
		}
	})
}
