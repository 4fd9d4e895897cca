package decide

import "testing"

// inProjectRows are stops at which all is proven, and some changes of the project do not count.
var inProjectRows = []row{
	{"nothing is left out", func(s *Snapshot) { s.NotCounted = nil }, "end COMPLETE all_features_pass"},
	{"the checks did not run there", func(s *Snapshot) { s.InProject = nil }, "project"},
	{"they pass", func(s *Snapshot) {}, "end COMPLETE all_features_pass"},
	{"one fails", func(s *Snapshot) { s.InProject = []Receipt{failure("c", "")} }, "continue 5  failed c"},
	{"one fails again", func(s *Snapshot) {
		s.InProject, s.State.ProjectFailures = []Receipt{failure("c", "")}, 1
	}, "end BLOCKED all_blocked"},
	{"a feature is open", func(s *Snapshot) { s.List, s.Results, s.InProject = list("xx-"), nil, nil }, "continue 5 c"},
}

func TestInProject(t *testing.T) {
	rows := make([]row, 0, len(inProjectRows))
	for _, r := range inProjectRows {
		edit := r.edit
		r.edit = func(s *Snapshot) {
			s.Contents, s.NotCounted = "now", []string{"Makefile"}
			s.List, s.Checks, s.Results = list("xxx"), []Check{ofAll}, []Receipt{receipt("c", "", "now")}
			s.InProject = []Receipt{receipt("c", "", "now")}
			edit(s)
		}
		rows = append(rows, r)
	}
	testRows(t, rows)
}
