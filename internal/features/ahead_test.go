package features

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// many writes n items that begin with the id "F" and a number from first on.
func many(first, n int, rest string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  {\"id\": \"F%06d\", \"title\": \"t\"%s},\n", first+i, rest)
	}
	return b.String()
}

// sameAhead reads a text in one thread and in two, and tells whether what the second
// had read was taken.
func sameAhead(t *testing.T, text string) bool {
	t.Helper()
	one, oneProblems := newParser([]byte(text), len(text)+1).parse([]byte(text))
	p := newParser([]byte(text), 1)
	two, twoProblems := p.parse([]byte(text))
	if !reflect.DeepEqual(oneProblems, twoProblems) {
		t.Fatalf("problems: %v, read ahead: %v", oneProblems, twoProblems)
	}
	one.ids, two.ids = index{}, index{} // seeded by chance
	if !reflect.DeepEqual(one, two) || one.Digest() != two.Digest() {
		t.Fatalf("read in one thread and in two:\n%+v\n%+v", one, two)
	}
	return p.half != nil && p.half.taken
}

func TestReadAhead(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	passes := `, "passes": true`
	sub := `, "subtasks": [{"id": 1, "title": "a", "passes": false}, {"id": 2, "title": "b", "passes": true}]`
	last := `  {"id": "last", "title": "t"}`
	for name, test := range map[string]struct {
		text  string
		taken bool
	}{
		"an array":                     {"[\n" + many(0, 200, passes) + last + "\n]", true},
		"in one line":                  {"[" + strings.ReplaceAll(many(0, 200, passes), "\n", "") + last + "]", true},
		"CRLF":                         {"[\r\n" + strings.ReplaceAll(many(0, 200, passes), "\n", "\r\n") + last + "]", true},
		"an object":                    {"{\"name\": \"x\", \"features\": [\n" + many(0, 200, passes) + last + "\n], \"rules\": {\"valid_status\": [\"a\"]}}", true},
		"with subtasks":                {"{\"tasks\": [\n" + many(0, 200, sub) + last + "\n]}", true},
		"Task Master":                  {"{\"master\": {\"tasks\": [\n" + many(0, 200, passes) + last + "\n]}, \"other\": {}}", true},
		"its second tag is long":       {"{\"other\": {\"tasks\": [\n" + many(0, 70, passes) + last + "\n]}, \"master\": {\"tasks\": [\n" + many(0, 900, passes) + last + "\n]}}", true},
		"ids that do not ascend":       {"[\n" + many(500, 100, passes) + many(0, 100, passes) + last + "\n]", true},
		"long items behind short ones": {"[\n" + many(0, 100, passes) + many(100, 100, `, "description": "`+strings.Repeat("x", 500)+`"`) + last + "\n]", true},
		"short items behind long ones": {"[\n" + many(0, 100, `, "description": "`+strings.Repeat("x", 500)+`"`) + many(100, 900, "") + last + "\n]", true},
		"all subtasks in the first":    {`[{"id": "a", "subtasks": [` + strings.Repeat("{},", 9000) + "{}]},\n" + many(0, 200, passes) + last + "\n]", true},
		"some are no work":             {"[\n" + many(0, 100, `, "status": "deferred"`) + many(100, 100, `, "dependencies": ["F000001", "F000120"]`) + last + "\n]", true},

		"few":                           {"[\n" + many(0, 20, passes) + last + "\n]", false},
		"the place is in a string":      {"[\n" + many(0, 100, passes) + `{"id": "x", "title": "` + strings.ReplaceAll(many(0, 300, ""), `"`, "'") + "\"},\n" + last + "\n]", false},
		"the place is in an item":       {"[\n" + many(0, 100, passes) + `{"id": "x", "steps": [` + many(0, 300, passes) + last + "]},\n" + last + "\n]", false},
		"the place is in another array": {"{\"features\": [\n" + many(0, 100, passes) + last + "\n], \"x\": [\n" + many(0, 300, passes) + last + "\n]}", false},
		"broken in the first half":      {"[\n" + many(0, 80, passes) + "  {\"id\"},\n" + many(80, 120, passes) + last + "\n]", false},
		"broken in the second half":     {"[\n" + many(0, 180, passes) + "  {\"id\"},\n" + many(80, 20, passes) + last + "\n]", false},
		"ends in the middle":            {"[\n" + many(0, 200, passes) + "  {\"id\"", false},
		"an id twice in the second":     {"[\n" + many(0, 200, passes) + many(190, 1, passes) + last + "\n]", true},
		"a number for an id":            {"[\n" + many(0, 190, passes) + "{}, {},\n" + last + "\n]", false},
		"two keys in the second":        {"[\n" + many(0, 190, passes) + `{"id": "x", "passes": true, "passes": false},` + last + "\n]", false},
		"no item in front":              {"[" + strings.Repeat("0,", 64) + many(0, 200, passes) + last + "]", false},
		"no item between":               {"[" + strings.Repeat(`0,{"id":"x"},`, 200) + last + "]", false},
		"no item at all":                {"[" + strings.Repeat("0,", 64) + strings.Repeat("{},0,", 200) + "{}]", false},
		"more than may be":              {"[\n" + strings.Repeat(`{"id":"x"},`, maxItems+2) + last + "\n]", false},
	} {
		t.Run(name, func(t *testing.T) {
			if taken := sameAhead(t, test.text); taken != test.taken {
				t.Errorf("taken: %v", taken)
			}
		})
	}
}

// TestRoom reads texts that were made to take much more than their size.
func TestRoom(t *testing.T) {
	for name, text := range map[string]string{
		"many arrays that are each worth a second thread": "{" + strings.Repeat(`"t": {"tasks": [`+many(0, 70, "")+`{}]}, `, 1500) + `"x": 0}`,
		"a task of many parts that needs many": `{"tasks": [{"id": 1, "dependencies": [` + strings.Repeat("1,", 2000) + `1], "subtasks": [` +
			strings.TrimSuffix(many(0, 2000, ""), ",\n") + `]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			newParser([]byte(text), 1).parse([]byte(text))
			runtime.ReadMemStats(&after)
			if most, took := uint64(50*len(text)), after.TotalAlloc-before.TotalAlloc; took > most {
				t.Errorf("took %d KB for a text of %d KB", took>>10, len(text)>>10)
			}
		})
	}
}

// FuzzAhead holds what two threads read of a list to what one reads.
func FuzzAhead(f *testing.F) {
	f.Add(`{"id": 1, "title": "a"}`, `{"id": 2}`, uint8(100), uint8(100))
	f.Add(`{"id": "x", "subtasks": [{"id": 1},{"id": 2}]}`, `{"id": 2, "title": "},{\"id\": 1"}`, uint8(70), uint8(1))
	f.Add(`{"title": "a"}`, `{"id": 2},{"id": [{"id": 2},{"id": 2}]}`, uint8(80), uint8(200))
	f.Add(`{"id":1}`, `]`, uint8(200), uint8(1))
	f.Fuzz(func(t *testing.T, item, other string, before, behind uint8) {
		sameAhead(t, "["+strings.Repeat(item+",", int(before))+strings.Repeat(other+",", int(behind))+item+"]")
		sameAhead(t, "["+strings.Repeat("0,", int(behind))+strings.Repeat(other+","+item+",", int(before))+item+"]")
		sameAhead(t, `{"x": {"tasks": [`+strings.Repeat(item+",", int(before))+strings.Repeat(other+",", int(behind))+item+"]}}")
	})
}
