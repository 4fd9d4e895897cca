package features

import (
	"strings"
	"testing"
	"unsafe"
)

// TestIDAlone wants ids with which nobody keeps the text of the list: a run has the ids of all features that it has
// worked on, each from another version of the list.
func TestIDAlone(t *testing.T) {
	for _, list := range []string{
		`[{"id": "login", "title": "Log in", "passes": false}]`,
		"- [ ] Log in\n",
	} {
		l, err := Parse([]byte(list))
		if err != nil {
			t.Fatal(err)
		}
		begin := uintptr(unsafe.Pointer(unsafe.StringData(l.text)))
		within := func(text string) bool {
			at := uintptr(unsafe.Pointer(unsafe.StringData(text)))
			return begin <= at && at < begin+uintptr(len(l.text))
		}
		if within(l.Items[0].ID) {
			t.Errorf("%s: the id %s is a part of the text", list, l.Items[0].ID)
		}
		if i := strings.Index(l.text, "Log in"); !within(l.text[i:]) { // the control
			t.Errorf("%s: a part of the text is not found", list)
		}
	}
}
