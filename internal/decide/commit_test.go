package decide

import "testing"

// commitRows are decisions of loops that commit what a stop has proven.
var commitRows = []row{
	{"nothing is claimed", func(s *Snapshot) { s.List = list("...") }, "continue 5 a"},
	{"a claim without a check is not proven", func(s *Snapshot) { s.Checks = nil }, "continue 5 c"},
	{"newly proven", func(s *Snapshot) {
		s.Results = []Receipt{receipt("f", "b", "now")}
	}, "commit b"},
	{"two at once", func(s *Snapshot) {
		s.Receipts, s.Results = nil, []Receipt{receipt("f", "a", "now"), receipt("f", "b", "now")}
	}, "commit a b"},
	{"one of two", func(s *Snapshot) {
		s.Receipts, s.ListNotWritten = nil, true
		s.Results = []Receipt{receipt("f", "a", "now"), failure("f", "b")}
	}, "commit a"},
	{"proven before", func(s *Snapshot) { s.Receipts = append(s.Receipts, receipt("f", "b", "now")) }, "continue 5 c"},
	{"done", func(s *Snapshot) {
		s.Results, s.Committed = []Receipt{receipt("f", "b", "now")}, &Committed{Commit: "c"}
	}, "continue 5 c"},
	{"not asked for", func(s *Snapshot) {
		s.Results, s.Commit = []Receipt{receipt("f", "b", "now")}, false
	}, "continue 5 c"},
	{"at a limit", func(s *Snapshot) {
		s.Results, s.State.Iteration = []Receipt{receipt("f", "b", "now")}, 15
	}, "commit b"},
	{"a check of the whole tree proves all", func(s *Snapshot) {
		s.Receipts, s.List, s.Checks, s.Results = nil, list("xxx"), []Check{ofAll}, []Receipt{receipt("c", "", "now")}
	}, "commit a b c"},
	{"it fails", func(s *Snapshot) {
		s.Receipts, s.List, s.Checks, s.Results = nil, list("xxx"), []Check{ofAll}, []Receipt{failure("c", "")}
	}, "continue 5  failed c"},
	{"complete, and all was proven before", func(s *Snapshot) {
		s.List, s.Recheck, s.Contents = list("x"), RecheckNever, "now"
	}, "commit"},
	{"complete without a check", func(s *Snapshot) {
		s.List, s.Checks = list("xxx"), nil
	}, "end COMPLETE all_features_pass"},
	{"no list", func(s *Snapshot) {
		s.List, s.NoList, s.Message, s.Checks = List{}, true, "<promise>COMPLETE</promise>", []Check{ofAll}
		s.Results = []Receipt{receipt("c", "", "now")}
	}, "commit"},
}

func TestDecideCommit(t *testing.T) {
	rows := make([]row, 0, len(commitRows))
	for _, r := range commitRows {
		edit := r.edit
		r.edit = func(s *Snapshot) {
			s.Commit, s.Checks, s.Receipts = true, []Check{ofFeature}, []Receipt{receipt("f", "a", "old")}
			edit(s)
		}
		rows = append(rows, r)
	}
	testRows(t, rows)
}

// TestUncommitted keeps the reason in the record until a commit is made, or nobody wants one any more.
func TestUncommitted(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*Snapshot)
		want string
	}{
		"no commit":     {func(*Snapshot) {}, "old"},
		"another one":   {func(s *Snapshot) { s.Committed = &Committed{Why: "new"} }, "new"},
		"it was made":   {func(s *Snapshot) { s.Committed = &Committed{Commit: "c"} }, ""},
		"not asked for": {func(s *Snapshot) { s.Commit = false }, ""},
	} {
		s := base()
		s.Commit, s.State.Uncommitted = true, "old"
		c.edit(&s)
		d, _ := Decide(s)
		if got := d.Next.Uncommitted; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
