package features

import (
	"strings"
	"testing"
)

// TestIdentity checks that another spelling of the same text gives the same identity, and
// that another text gives another one.
func TestIdentity(t *testing.T) {
	identity := func(raw string) string { return Item{raw: raw}.Identity() }
	const base = `{"id":"a","title":"é","steps":["a","b",1,{"x":1,"y":[true,null]}],"passes":false}`
	for _, same := range []string{
		`{ "steps" : [ "a", "\u0062", 1.0, {"y":[true,null],"x":1e0} ], "title":"\u00e9","id":"b","notes":"n","passes":true}`,
		`{"title":"é","steps":["a","b",1,{"x":1,"y":[true,null]}],"completedAt":"now","Blocked-Reason":null,"PR_URL":"x"}`,
		`{"title":"é","steps":["a","b",1,{"x":1,"y":[true,null]}],"priority":1,"depends_on":["z"],"subtasks":[{"id":1}]}`,
	} {
		if identity(same) != identity(base) {
			t.Errorf("%s is another feature than %s", same, base)
		}
	}
	seen := map[string]string{identity(base): base}
	for _, other := range []string{
		`{"title":"é","steps":["a","b",1,{"x":1,"y":[true,false]}]}`,
		`{"title":"é","steps":["a","b","1",{"x":1,"y":[true,null]}]}`,
		`{"title":"é","steps":["ab",1,{"x":1,"y":[true,null]}]}`,
		`{"title":"é","steps":["a","b",1,{"x":1},{"y":[true,null]}]}`,
		`{"title":"é","steps":["a",["b",1,{"x":1,"y":[true,null]}]]}`,
		`{"title":"é","steps":["a","b",1,{"x":{"y":1}}]}`,
		`{"title":"é","steps":["a","b",1,{"x":{},"y":1}]}`,
		`{"title":"é","steps":["a","b",1,{"x":[],"y":1}]}`,
		`{"title":"é","steps":["a","b",12]}`, `{"title":"é","steps":["a","b",1,2]}`,
		`{"title":"é","steps":["a","b",[1],2]}`, `{"title":"é","steps":[]}`, `{"title":"é"}`,
		`{"title":"é","steps":null}`, `{"title":"é","steps":{}}`, `{"title":"é","steps":"[]"}`,
		`{"name":"é"}`, `{"title":"","name":"é"}`, `{"title":"étitle"}`, `{}`,
		`{"title":"x","steps":["a","b",1,{"x":1,"y":[true,null]}],"t\u0069tle":"é"}`, // readers differ in which they take
		`{"title":"é","steps":["a","b",1,{"x":2,"y":[true,null],"x":1}]}`,
		`{"title":"é","steps":["a","b",1,{"x":1,"y":[true,null]}],"requirements":["x"]}`,
		`{"title":"é","steps":["a","b",1,{"x":1,"y":[true,null]}],"Passes":true,"Verify":"x"}`,
		`{"title":"é","steps":["a","b",1,{"x":1,"y":[true,null]}],"subtasks":{"do":"x"}}`,
		`{"title":"é","steps":["a","b",1,{"x":1,"y":[true,null],"notes":"x"}]}`,
		`{"title":"é","n":9007199254740993}`, `{"title":"é","n":9007199254740992}`,
		`{"title":"é","n":1e400}`, `{"title":"é","n":1e500}`,
		`{"title":"é","verify":"true"}`, `{"title":"é","verify":true}`,
		`{"title":"é","description":"a"}`, `{"title":"é","description":"b"}`, `{"title":"é","acceptance":"a"}`,
	} {
		id := identity(other)
		if twin, has := seen[id]; has {
			t.Errorf("%s is the same feature as %s", other, twin)
		}
		seen[id] = other
	}
}

// TestParseTwice has keys that are there twice beside the items of a list.
func TestParseTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{"features":[{"title":"a"}],"x":1,"x":2}`:                           `the key "x" is there twice`,
		`{"features":{"tasks":[]},"features":[{"title":"a"}]}`:               `the key "features" is there twice`,
		`{"t":{"tasks":[{"title":"a"}]},"\u0074":{"tasks":[{"title":"b"}]}}`: `the key "t" is there twice`,
		`{"t":{"tasks":{},"tasks":[{"title":"a"}]}}`:                         `the key "tasks" is there twice`,
		"{\"title\":\"a\",\"x\":1,\"x\":2}\n{\"title\":\"b\",\"x\":1}\n":     "",
	} {
		_, err := Parse([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
