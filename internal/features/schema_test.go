package features

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestSchemas compares the keys of the JSON Schemas with those that Convert writes and with
// those that Check knows.
func TestSchemas(t *testing.T) {
	for to, root := range map[string]string{ToFeatures: "features", ToPRD: "userStories"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "hooks", to+".schema.json"))
		if err != nil || !gjson.ValidBytes(data) {
			t.Fatal(to, err)
		}
		schema := gjson.ParseBytes(data)
		if id := schema.Get("$id").Str; id != Schemas+to+".schema.json" {
			t.Errorf("%s has the id %q", to, id)
		}
		keys := schema.Get("$defs.feature.properties").Map()
		for key := range keys {
			if !slices.Contains(knownKeys(), key) {
				t.Errorf("%s has %q, which check would not know", to, key)
			}
		}
		for field := range reflect.TypeFor[outItem]().Fields() {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			prd := key == "acceptanceCriteria" || key == "dependsOn"
			plain := key == "acceptance" || key == "dependencies"
			if _, has := keys[key]; has != (!prd && !plain || prd == (to == ToPRD)) {
				t.Errorf("%s of %s: in the schema %v", key, to, has)
			}
		}
		l, err := Parse([]byte(`[{"id":"a","title":"t","priority":1,"dependencies":["b"]},` +
			`{"id":"b","title":"u","status":"cancelled"}]`))
		if err != nil {
			t.Fatal(err)
		}
		text, err := l.Convert(to)
		if err != nil || gjson.GetBytes(text, "$schema").Str != schema.Get("$id").Str ||
			gjson.GetBytes(text, root+".#").Int() != 2 {
			t.Errorf("%s, %v", text, err)
		}
		for path := range schema.Get("properties").Map() {
			if path != root && path != "$schema" && to == ToFeatures {
				t.Errorf("%s has the key %q", to, path)
			}
		}
	}
}
