package fleet

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// A platform asks a worker whether it lives, whether it is ready, and what it has done.
func TestHealth(t *testing.T) {
	var h Health
	h.busy.Add(1)
	h.handedIn.Add(3)
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"/livez":   {200, "ok"},
		"/readyz":  {503, "there is no connection to the engine"},
		"/metrics": {200, "\nralph_worker_handed_in_total 3\n"},
		"/":        {404, ""},
	} {
		answer := httptest.NewRecorder()
		h.Handler(2).ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
		if answer.Code != want.code || !strings.Contains(answer.Body.String(), want.text) {
			t.Errorf("%s answers %d %q", path, answer.Code, answer.Body)
		}
	}
}
