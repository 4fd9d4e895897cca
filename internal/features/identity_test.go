package features

import "testing"

// TestIdentity checks that another spelling of the same text gives the same identity, and
// that another text gives another one.
func TestIdentity(t *testing.T) {
	identity := func(raw string) string { return Item{raw: raw}.Identity() }
	const base = `{"id":"a","title":"é","steps":["a","b",1,{"x":1,"y":[true,null]}],"passes":false}`
	for _, same := range []string{
		`{ "steps" : [ "a", "\u0062", 1.0, {"y":[true,null],"x":1e0} ], "title":"\u00e9","id":"b","notes":"n","passes":true}`,
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
		`{"title":"é","verify":"true"}`, `{"title":"é","verify":true}`,
	} {
		id := identity(other)
		if twin, has := seen[id]; has {
			t.Errorf("%s is the same feature as %s", other, twin)
		}
		seen[id] = other
	}
}
