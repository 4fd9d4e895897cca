package slug

import "testing"

// TestMake has one test for each feature of the list, named by its id.
func TestMake(t *testing.T) {
	for id, tests := range map[string]map[string]string{
		"lower":  {"Hello": "hello", "ÄRGER": "ärger"},
		"spaces": {"hello  world": "hello-world", " hello\t": "hello"},
		"marks":  {"hello, world!": "hello-world", "c++ & go": "c-go"},
	} {
		t.Run(id, func(t *testing.T) {
			for title, want := range tests {
				if got := Make(title); got != want {
					t.Errorf("Make(%q) = %q, want %q", title, got, want)
				}
			}
		})
	}
}
