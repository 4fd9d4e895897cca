package run

import (
	"slices"
	"strings"
	"testing"
)

// judge tells the queue how a batch went: one with a capital letter fails.
func judge(q *queue, batch string, personCommits bool) verdict {
	if strings.ToLower(batch) != batch {
		return q.failed(len(batch))
	}
	return q.passed(personCommits)
}

// TestQueue plays what waits through batches: each text names features, in capitals those that fail wherever they are.
func TestQueue(t *testing.T) {
	for name, test := range map[string]struct {
		waiting string
		moves   int // batches during which a person commits, from the first one on
		batches []string
		merged  string
		given   string
	}{
		"all pass together": {waiting: "abcd", batches: []string{"abcd"}, merged: "abcd"},
		"one alone fails":   {waiting: "A", batches: []string{"A"}, given: "A"},
		"the first of four fails": {
			waiting: "Abcd", batches: []string{"Abcd", "Ab", "A", "b", "cd"}, merged: "bcd", given: "A",
		},
		"the last of four fails": {
			waiting: "abcD", batches: []string{"abcD", "ab", "cD", "c", "D"}, merged: "abc", given: "D",
		},
		"all fail":                      {waiting: "ABC", batches: []string{"ABC", "A", "B", "C"}, given: "ABC"},
		"a person commits once":         {waiting: "ab", moves: 1, batches: []string{"ab", "ab"}, merged: "ab"},
		"a person commits all the time": {waiting: "a", moves: 99, batches: []string{"a", "a", "a", "a"}, merged: "a"},
		"a person commits, and it fails": {
			waiting: "aB", moves: 99, batches: []string{"aB", "a", "a", "a", "a", "B"}, merged: "a", given: "B",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var q queue
			var batches []string
			merged, given := "", ""
			for waiting := test.waiting; waiting != ""; {
				batch := waiting[:q.size(len(waiting))]
				batches = append(batches, batch)
				if len(batches) > 20 {
					t.Fatal("it never ends", batches)
				}
				switch judge(&q, batch, len(batches) <= test.moves) {
				case merge:
					merged += batch
				case giveBack:
					given += batch
				default:
					continue
				}
				waiting = waiting[len(batch):]
			}
			if !slices.Equal(batches, test.batches) || merged != test.merged || given != test.given {
				t.Errorf("batches %q, merged %q, given back %q; want %q, %q, %q", batches, merged, given, test.batches,
					test.merged, test.given)
			}
		})
	}
}
