//go:build fuzzcontrol

package seeds

import (
	"bytes"
	"testing"
)

// FuzzControl has a bug that no seed shows: a run of fuzz targets that does not
// find it would find nothing.
func FuzzControl(f *testing.F) {
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte("{")) && bytes.Count(data, []byte("}")) > 2 {
			t.Fatalf("%q", data)
		}
	})
}
