//go:build e2e

package e2e

import "testing"

// TestEndings checks that a script fails if an ending is told twice or without an id.
func TestEndings(t *testing.T) {
	const (
		one      = `{"deliveryId":"1","status":"failed","exitReason":"rate_limit"}` + "\n"
		two      = `{"deliveryId":"2","status":"completed","exitReason":"all_features_pass"}` + "\n"
		nameless = `{"status":"completed","exitReason":"all_features_pass"}` + "\n"
	)
	for _, test := range []struct {
		notices string
		rows    int
		ok      bool
	}{
		{"", 0, true},
		{one + two, 2, true},
		{one + one, 1, false},
		{one + two + one, 2, false},
		{nameless, 0, false},
		{one[:len(one)/2], 0, false},
	} {
		rows, err := endings("script", test.notices)
		if len(rows) != test.rows || (err == nil) != test.ok {
			t.Errorf("%q: %d rows, %v; want %d, ok %v", test.notices, len(rows), err, test.rows, test.ok)
		}
	}
}
