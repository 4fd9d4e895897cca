package features

import "testing"

func TestSkipHeadings(t *testing.T) {
	for _, heading := range []string{
		"Optional", "optional", "OPTIONAL:", "**Optional**", "_Future_", "`Future`", "Future", "Future Work",
		"Future Enhancements", "future improvements", "Future Ideas & Considerations", "Nice to Have", "Nice-to-have",
		"nice to haves", "Nice-to-Haves (v2)", "Out of Scope", "Out-of-scope", "Out of scope for now", "5. Future Work",
		"7) Optional", "3.2 Nice to have", "IV. Out of Scope", "Phase 4: Future Enhancements", "🚀 Future Work",
		"✨ Nice to Have ✨", "Optional / Nice to Have", "Future Work (optional)", "Future (post-MVP)",
		"Phase 5 – Optional",
		"Polish (optional)", "Phase 6: Polish (Optional)", "Dark mode [nice to have]", "Optional Tasks", "Optional items.",
		"Future Work and Out of Scope", "P3 - Nice to have", "Future Plans", "— Optional —", "Future…",
	} {
		if !isSkipHeading(heading, SkipHeadings) {
			t.Errorf("below %q there is work", heading)
		}
	}
	for _, heading := range []string{
		"US-002: Flags and optional fields", "Future-proof the API", "Task 11: Optional Real Database Gate", "",
		"Optional chaining", "Optional fields", "Support optional parameters", "Futures", "Future dates in the calendar",
		"Export (optional fields)", "Phase 2", "Nice error messages", "Scope", "Out of memory", "Back to the future",
		"Make the name optional", "(optional) arguments of the CLI", "Task 3: Future-dated invoices", "Work", "Features",
		"Optional: write the parser", "Non-goals", "Backlog", "Deferred revenue", "US-1 Optional login", "and", "(v2)",
		"Optionals in Swift", "Future<T> in the scheduler", "Optional<T> and Future<T>",
	} {
		if isSkipHeading(heading, SkipHeadings) {
			t.Errorf("below %q there is no work", heading)
		}
	}
	for heading, want := range map[string]bool{
		"Stretch goals": true, "STRETCH GOAL": true, "4. Won't do": true, "Wont do (yet)": true, "Optional": false,
		"Stretching": false, "Polish (stretch goal)": true, "Future Work": false,
	} {
		if isSkipHeading(heading, []string{"Stretch goals", "Won't do"}) != want {
			t.Errorf("%q: want %v", heading, want)
		}
	}
	if isSkipHeading("Optional", []string{}) || isSkipHeading("", []string{""}) {
		t.Error("without phrases, nothing is skipped")
	}
}
