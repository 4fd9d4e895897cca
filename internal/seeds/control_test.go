//go:build fuzzcontrol

package seeds

import (
	"bytes"
	"testing"
)

// FuzzControl has a planted bug that no seed triggers. If a run of the fuzz targets does not
// find this bug, it cannot be trusted to find others.
func FuzzControl(f *testing.F) {
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte("{")) && bytes.Count(data, []byte("}")) > 2 {
			t.Fatalf("%q", data)
		}
	})
}
