package features

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// many returns n items. Their ids are "F" and a number, which begins with first.
func many(first, n int, rest string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  {\"id\": \"F%06d\", \"title\": \"t\"%s},\n", first+i, rest)
	}
	return b.String()
}

// TestRoom parses texts that could make the parser allocate far more than their size.
func TestRoom(t *testing.T) {
	array := `"t": {"tasks": [` + many(0, 70, "") + `{}]}, `
	for name, text := range map[string]string{
		"many arrays": "{" + strings.Repeat(array, 1500) + `"x": 0}`,
		"a task with many subtasks that needs many": `{"tasks": [{"id": 1, "dependencies": [` +
			strings.Repeat("1,", 2000) + `1], "subtasks": [` +
			strings.TrimSuffix(many(0, 2000, ""), ",\n") + `]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			Reading{}.parse([]byte(text))
			runtime.ReadMemStats(&after)
			if most, took := uint64(50*len(text)), after.TotalAlloc-before.TotalAlloc; took > most {
				t.Errorf("took %d KB for a text of %d KB", took>>10, len(text)>>10)
			}
		})
	}
}
