package features

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestSchemas compares the keys of the JSON Schemas with those that Check knows.
func TestSchemas(t *testing.T) {
	for to, root := range map[string]string{"features": "features", "prd": "userStories"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "hooks", to+".schema.json"))
		if err != nil || !gjson.ValidBytes(data) {
			t.Fatal(to, err)
		}
		schema := gjson.ParseBytes(data)
		if id := schema.Get("$id").Str; !strings.HasSuffix(id, "/hooks/"+to+".schema.json") {
			t.Errorf("%s has the id %q", to, id)
		}
		keys := schema.Get("$defs.feature.properties").Map()
		for key := range keys {
			if !slices.Contains(knownKeys(), key) {
				t.Errorf("%s has %q, which check would not know", to, key)
			}
		}
		for path := range schema.Get("properties").Map() {
			if path != root && path != "$schema" && to == "features" {
				t.Errorf("%s has the key %q", to, path)
			}
		}
	}
}
