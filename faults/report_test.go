//go:build faults && linux

package faults

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var document = flag.String("figures", "", "write the figures into this document, between its marks")

// harness counts what was tried and what was lost.
type harness struct {
	*testing.T
	name   string
	broken string // the program of a control

	mu sync.Mutex
	figures
	of map[string]int // faults by scenario
}

// figures are what a harness prints.
type figures struct {
	Tried  int
	Lost   []string
	Caught []string // broken programs
}

var harnesses struct {
	sync.Mutex
	all []*harness
}

func newHarness(t *testing.T, name string) *harness {
	h := &harness{T: t, name: name}
	harnesses.Lock()
	harnesses.all = append(harnesses.all, h)
	harnesses.Unlock()
	return h
}

// result counts one fault. It is true where a control has been caught.
func (h *harness) result(what string, err error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Tried++
	if err != nil {
		h.Lost = append(h.Lost, what+": "+err.Error())
		if h.broken == "" && len(h.Lost) <= mostShown {
			h.Errorf("%s: %v", what, err)
		}
	}
	return h.broken != "" && len(h.Lost) > 0
}

// count counts one fault for a scenario.
func (h *harness) count(scenario string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = map[string]int{}
	}
	h.of[scenario]++
}

// mostShown bounds what is printed of what was lost.
const mostShown = 20

// many counts faults that are judged together.
func (h *harness) many(n int, what string, err error) {
	h.result(what, err)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Tried += n - 1
}

func (h *harness) enough() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.broken != "" && len(h.Lost) > 0
}

// control has the harness look at a program that it must find broken.
func (h *harness) control(broken string, try func(*harness)) {
	h.Run("control: "+broken, func(t *testing.T) {
		c := &harness{T: t, name: h.name, broken: broken}
		t.Cleanup(func() {
			if len(c.Lost) == 0 {
				t.Errorf("the program that %s survived %d faults: this harness sees nothing", broken, c.Tried)
				return
			}
			t.Logf("caught: %s", c.Lost[0])
			h.mu.Lock()
			defer h.mu.Unlock()
			h.Caught = append(h.Caught, broken)
		})
		t.Parallel()
		try(c)
	})
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	bin, err = os.MkdirTemp("", "ralph-faults-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	status := m.Run()
	if rows := os.Getenv("FAULTS_ROWS"); rows != "" && len(harnesses.all) > 0 {
		data, err := json.Marshal(harnesses.all[0].figures)
		if err == nil {
			err = os.WriteFile(rows, data, 0o600)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return status
	}
	if testing.Verbose() {
		for _, h := range harnesses.all {
			for _, scenario := range slices.Sorted(maps.Keys(h.of)) {
				fmt.Printf("%s: %s: %d\n", h.name, scenario, h.of[scenario])
			}
		}
	}
	rows := rows()
	fmt.Printf("seed %d\n", *seed)
	fmt.Println(strings.Join(append([]string{heading}, rows...), "\n"))
	if *document != "" && status == 0 {
		if err := writeFigures(*document, rows); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return status
}

const heading = "| test | RUN= | faults | lost | broken programs caught |\n" +
	"|---|---|--:|--:|--:|"

// command is the column that says which row it is.
func command(test string) string {
	return " `" + strings.TrimPrefix(test, "Test") + "` "
}

func rows() (rows []string) {
	for _, h := range harnesses.all {
		figures := " skipped | | "
		if h.Tried > 0 {
			figures = fmt.Sprintf(" %d | %d | %d ", h.Tried, len(h.Lost), len(h.Caught))
		}
		rows = append(rows, "| "+h.name+" |"+command(h.T.Name())+"|"+figures+"|")
	}
	slices.Sort(rows)
	return rows
}

const (
	beginMark = "<!-- figures of make faults -->\n"
	endMark   = "<!-- end of the figures -->\n"
)

// writeFigures puts rows in the place of those that the same command has written
// before. What was skipped here leaves what was measured elsewhere.
func writeFigures(path string, rows []string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(data), beginMark)
	table, after, too := strings.Cut(rest, endMark)
	if !ok || !too {
		return fmt.Errorf("%s has no marks for the figures", path)
	}
	byCommand := map[string]string{}
	for _, row := range append(strings.Split(table, "\n"), rows...) {
		columns := strings.Split(row, "|")
		ours := len(columns) > 3 && strings.HasPrefix(columns[2], " `")
		if ours && strings.TrimSpace(columns[3]) != "skipped" {
			byCommand[columns[2]] = row
		}
	}
	now := slices.Sorted(maps.Values(byCommand))
	return os.WriteFile(path, []byte(before+beginMark+heading+"\n"+strings.Join(now, "\n")+"\n"+endMark+after), 0o644)
}
