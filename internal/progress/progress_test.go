package progress

import (
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/seeds"
)

func TestEdit(t *testing.T) {
	h := Header{Status: "COMPLETE", Iteration: 12, MaxIterations: 15, Feature: "login"}
	for _, tc := range []struct{ name, in, want string }{
		{"empty file", "", "Status: COMPLETE\nIteration: 12\nMax Iterations: 15\nFeature: login\n"},
		{
			"own header", "Status: IN_PROGRESS\nIteration: 1\nMax Iterations: 20\nFeature: x\n\nnote\n",
			"Status: COMPLETE\nIteration: 12\nMax Iterations: 15\nFeature: login\n\nnote\n",
		},
		{
			"one line missing", "Status: IN_PROGRESS\nIteration: 1\nMax Iterations: 15\n",
			"Status: COMPLETE\nIteration: 12\nMax Iterations: 15\nFeature: login\n",
		},
		{
			"notes only", "# Notes\n- did a thing\n",
			"Status: COMPLETE\nIteration: 12\nMax Iterations: 15\nFeature: login\n# Notes\n- did a thing\n",
		},
		{
			"markers and bold", "# Status: A\n- **Iteration**: 3/15\n* **Max Iterations:** 15\nFeature:\n",
			"# Status: COMPLETE\n- **Iteration**: 12/15\n* **Max Iterations:** 15\nFeature: login\n",
		},
		{
			"CRLF and BOM", "\xef\xbb\xbfStatus: A\r\nnote\r\n",
			"\xef\xbb\xbfStatus: COMPLETE\r\nIteration: 12\r\nMax Iterations: 15\r\nFeature: login\r\nnote\r\n",
		},
		{"no final newline", "Status: A", "Status: COMPLETE\nIteration: 12\nMax Iterations: 15\nFeature: login"},
		{
			"first line of a name wins", "Status: A\nStatus: B\nIteration: 1\nMax Iterations: 1\nFeature: f\n",
			"Status: COMPLETE\nStatus: B\nIteration: 12\nMax Iterations: 15\nFeature: login\n",
		},
		{
			"words that only look like it", "Overall Status: A\nStatus quo: b\nStatuses: c\n",
			"Status: COMPLETE\nIteration: 12\nMax Iterations: 15\nFeature: login\n" +
				"Overall Status: A\nStatus quo: b\nStatuses: c\n",
		},
		{
			"below the header", strings.Repeat("note\n", HeaderLines) + "Status: A\n",
			"Status: COMPLETE\nIteration: 12\nMax Iterations: 15\nFeature: login\n" +
				strings.Repeat("note\n", HeaderLines) + "Status: A\n",
		},
		{
			"on its last lines", strings.Repeat("note\n", HeaderLines-2) + "Status: A\nIteration: 1\n",
			"Status: COMPLETE\nIteration: 12\nMax Iterations: 15\nFeature: login\n" +
				strings.Repeat("note\n", HeaderLines-2) + "Status: COMPLETE\nIteration: 12\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Edit([]byte(tc.in), h)
			if string(got) != tc.want {
				t.Errorf("Edit:\n%q\nwant\n%q", got, tc.want)
			}
			if Parse(got) != h {
				t.Errorf("Parse(Edit) = %+v", Parse(got))
			}
			if again := Edit(got, h); string(again) != string(got) {
				t.Errorf("a second Edit changed the file:\n%q", again)
			}
		})
	}
}

func TestParse(t *testing.T) {
	for in, want := range map[string]Header{
		"":                                                {},
		"Status: IN_PROGRESS\nIteration: 4":               {Status: "IN_PROGRESS", Iteration: 4},
		"Iteration: many\nMax Iterations: -3\n":           {},
		"Iteration: 99999999999999999999\n":               {Iteration: 999999999},
		"Status: " + strings.Repeat("x", 5000):            {Status: strings.Repeat("x", maxValue)},
		"  - **Status**:   PAUSED  \r\nIteration: 2 of 9": {Status: "PAUSED", Iteration: 2},
	} {
		if got := Parse([]byte(in)); got != want {
			t.Errorf("Parse(%q) = %+v, want %+v", in, got, want)
		}
	}
}

// FuzzEdit checks that an edit reads back as written, that a second edit changes nothing,
// and that each line stays that is no header line.
func FuzzEdit(f *testing.F) {
	for _, seed := range seeds.Files(f, "*progress*", "*.txt", "*.md") {
		f.Add(string(seed), "COMPLETE", 3, 15, "login form")
	}
	f.Add("Status: A\r\n- **Iteration**: 3/15\nnote\n", "COMPLETE", 3, 15, "login form")
	f.Add("\xef\xbb\xbf# Notes", "X", 1, 1, "")
	f.Add("Status: A\nFeature:   \n", "X", 1, 1, "")
	f.Fuzz(func(t *testing.T, in, status string, iteration, limit int, feature string) {
		clean := func(s string) string {
			return strings.TrimSpace(strings.Map(func(r rune) rune {
				if r < ' ' || r == 0xFFFD {
					return -1
				}
				return r
			}, s))
		}
		h := Header{
			Status: clean(status), Iteration: abs(iteration) % 1e9, MaxIterations: abs(limit) % 1e9,
			Feature: clean(feature),
		}
		if h.Status == "" || len(h.Status) > maxValue || len(h.Feature) > maxValue {
			return
		}
		got := Edit([]byte(in), h)
		if p := Parse(got); p != h {
			t.Fatalf("Parse(Edit(%q)) = %+v, want %+v", in, p, h)
		}
		if again := Edit(got, h); string(again) != string(got) {
			t.Fatalf("not stable:\n%q\n%q", got, again)
		}
		for l := range strings.SplitSeq(strings.TrimPrefix(in, "\xef\xbb\xbf"), "\n") {
			if _, _, ok := headerLine([]byte(strings.TrimSuffix(l, "\r"))); !ok && !strings.Contains(string(got), l) {
				t.Fatalf("lost the line %q", l)
			}
		}
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}
