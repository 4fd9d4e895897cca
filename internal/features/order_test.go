package features

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestOrder works through random lists. Each item that Next returns must be ready, with the
// best priority of the ready ones. The items must come in the order that Order returned at
// the start.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := 1 + r.IntN(12)
		needs := make([][]int, n)
		priority := make([]int, n)
		state := make([]string, n)
		for i := range n {
			priority[i] = r.IntN(4)
			state[i] = []string{"pending", "pending", "pending", "in_progress", "done", "blocked",
				"cancelled"}[r.IntN(7)]
			for range r.IntN(3) {
				needs[i] = append(needs[i], r.IntN(n+1)) // n does not exist; i may need itself
			}
		}
		text := func() string {
			var items []string
			for i := range n {
				list := strings.ReplaceAll(fmt.Sprint(append([]int{}, needs[i]...)), " ", ",")
				items = append(items, fmt.Sprintf(`{"id":%d,"title":"t","status":%q,"priority":%d,"dependencies":%s}`,
					i, state[i], priority[i], list))
			}
			return `{"tasks":[` + strings.Join(items, ",") + "]}"
		}
		ready := func(i int) bool {
			return state[i] != "done" && state[i] != "blocked" && state[i] != "cancelled" &&
				!slices.ContainsFunc(needs[i], func(d int) bool { return d == n || state[d] != "done" })
		}
		var want, got []string
		for step := 0; ; step++ {
			l, err := Parse([]byte(text()))
			if err != nil {
				break // all items are cancelled
			}
			if step == 0 {
				for _, item := range l.Order() {
					want = append(want, item.ID)
				}
			}
			best := -1
			for i := range n {
				if ready(i) && (best < 0 || priority[i] < priority[best]) {
					best = i
				}
				if item, has := l.Find(fmt.Sprint(i)); has && !item.Passes && (l.Why(item) == "") != ready(i) {
					t.Fatalf("%d: %q in %s", i, l.Why(item), text())
				}
			}
			next, open := l.Next()
			if open != (best >= 0) || open && next.ID != fmt.Sprint(best) {
				t.Fatalf("next %q, want %d of %s", next.ID, best, text())
			}
			if all := butReady(l); !slices.Equal(all, readyInOrder(n, priority, ready)) {
				t.Fatalf("one after the other, without those before: %q of %s", all, text())
			}
			if !open {
				if (l.Stuck() == "") != (l.Passed() == len(l.Items)) {
					t.Fatalf("stuck %q in %s", l.Stuck(), text())
				}
				break
			}
			got = append(got, next.ID)
			state[best] = "done"
		}
		if !slices.Equal(want, got) {
			t.Fatalf("worked in the order %v, want %v", got, want)
		}
	}
}

// butReady returns what NextBut returns, each time without what it returned before.
func butReady(l List) (ids []string) {
	except := map[string]bool{}
	for {
		item, open := l.NextBut(except)
		if !open {
			return ids
		}
		ids = append(ids, item.ID)
		except[item.ID] = true
	}
}

// readyInOrder returns the ids of the items that are ready, the best priority first.
func readyInOrder(n int, priority []int, ready func(i int) bool) (ids []string) {
	for p := range 4 {
		for i := range n {
			if priority[i] == p && ready(i) {
				ids = append(ids, fmt.Sprint(i))
			}
		}
	}
	return ids
}

// TestSubtasksWait checks that a subtask waits for the items that its task waits for.
func TestSubtasksWait(t *testing.T) {
	l, err := Parse([]byte(`{"tasks":[
		{"id":1,"title":"api","status":"pending","dependencies":[2],"subtasks":[
			{"id":1,"title":"routes","status":"pending","dependencies":[2]},{"id":2,"title":"auth","status":"pending"}]},
		{"id":2,"title":"db","status":"pending"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, item := range l.Order() {
		order = append(order, item.ID)
	}
	if want := []string{"2", "1.2", "1.1", "1"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
	if item, _ := l.Find("1.2"); l.Why(item) != "needs 2" {
		t.Errorf("%q", l.Why(item))
	}
}

// TestNeeds gives what an item c has for its needs, in the shapes of public lists: which of a and b it waits for, and
// what is named as not read.
func TestNeeds(t *testing.T) {
	for fields, want := range map[string][2]string{
		`"dependsOn": "a"`:                                     {"a", ""},
		`"dependencies": ["a", "b"]`:                           {"a b", ""},
		`"dependencies": ["a"], "blocked_by": ["b"]`:           {"a b", ""},
		`"dependsOn": {"target": "a"}`:                         {"a", ""},
		`"dependencies": [{"target": "a"}, {"task_id": "b"}]`:  {"a b", ""},
		`"dependencies": {"dependsOn": ["a", "b"]}`:            {"a b", ""},
		`"dependencies": [{"id": "a", "type": "hard"}]`:        {"a", ""},
		`"dependencies": [{"target": "a", "type": "related"}]`: {"", ""},
		`"dependencies": [{"target": "a", "type": "data"}]`: {
			"", `line 1, dependencies: [{"target": "a", "type": "data"}]`,
		},
		`"dependencies": {"a": true, "b": true}`:           {"", `line 1, dependencies: {"a": true, "b": true}`},
		`"dependencies": [{"blocks": "a"}, "b"]`:           {"b", `line 1, dependencies: [{"blocks": "a"}, "b"]`},
		`"requires": ["a"]`:                                {"", `line 1, requires: ["a"]`},
		`"dependencies": {}, "requires": [], "deps": null`: {"", ""},
	} {
		l, problems, _ := Reading{}.Check([]byte(`[{"id": "c", "title": "C", ` + fields + `},
			{"id": "a", "title": "A"}, {"id": "b", "title": "B"}]`))
		c, _ := l.Find("c")
		var needs []string
		for _, n := range l.unmetNeeds(&c) {
			needs = append(needs, n.id)
		}
		got := [2]string{strings.Join(needs, " "), strings.Join(l.Unread.First, "/")}
		if got != want || len(problems) > 0 || c.Workable() != (want[0] == "") {
			t.Errorf("%s: %q, want %q (%v)", fields, got, want, problems)
		}
	}

	// A record that names nothing in the list is a problem, but for one of a tracker: those leave out what is closed.
	for fields, want := range map[string]int{`"target": "x"`: 1, `"depends_on_id": "x", "type": "blocks"`: 0} {
		_, problems, _ := Reading{}.Check([]byte(`[{"id": "c", "title": "C", "dependencies": [{` + fields + `}]},
			{"id": "a", "title": "A"}]`))
		if len(problems) != want {
			t.Errorf("%s: %v", fields, problems)
		}
	}
	for text, want := range map[string]string{
		`{"tasks": [{"id": "a", "title": "A"}],` + "\n" + `"deps": 1, "dependencies": {"a": []}}`: `line 2, ` +
			`dependencies: {"a": []}`,
		`{"id": "a", "title": "A", "dependencies": ["b"]}` + "\n" + `{"id": "b", "title": "B"}`: "",
	} {
		l, _ := Parse([]byte(text))
		if got := strings.Join(l.Unread.First, "/"); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
