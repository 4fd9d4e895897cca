package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// replay gives each recorded session to the parser of an agent. Its rows say how each ended: SAMPLE EXIT CLASS TOKENS
// COST | MESSAGE | PROBLEM, the latter two as prefixes. TOKENS are input and output, with "?" if not all are known.
func replay(t *testing.T, output, table string, resets map[string]string, refusals map[string]int) {
	files, err := filepath.Glob("testdata/" + output + "/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no samples", err)
	}
	rows := map[string]string{}
	for row := range strings.Lines(strings.TrimSpace(table)) {
		name, rest, _ := strings.Cut(row, " ")
		rows[name] = rest
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			row, there := rows[name]
			if !there {
				t.Fatal("no row for this sample")
			}
			delete(rows, name)
			var code int
			var class, tokens, cost string
			cells := strings.SplitN(row, "|", 3)
			if _, err := fmt.Sscan(cells[0], &code, &class, &tokens, &cost); err != nil {
				t.Fatal(err)
			}
			message, problem := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
			exit := Exit{Code: code}
			if code < 0 {
				exit = Exit{Code: 128 - code}
			}
			if stderr, err := os.ReadFile(filepath.Join("testdata", output, name+".stderr.txt")); err == nil {
				exit.Stderr = string(stderr)
			}
			p := feedFile(t, formatOf(output).parser(), file)
			got := p.Outcome(exit, sampled)
			if string(got.Class) != class || tokensOf(got.Usage) != tokens || costOf(got.Usage) != cost {
				t.Errorf("%s %s %s, want %s %s %s",
					got.Class, tokensOf(got.Usage), costOf(got.Usage), class, tokens, cost)
			}
			if !strings.HasPrefix(got.Message, message) || (message == "") != (got.Message == "") {
				t.Errorf("message %q, want %q", got.Message, message)
			}
			if !strings.HasPrefix(got.Problem, problem) || (problem == "") != (got.Problem == "") {
				t.Errorf("problem %q, want %q", got.Problem, problem)
			}
			until := ""
			if !got.Until.IsZero() {
				until = got.Until.Format(time.RFC3339)
			}
			if _, err := time.LoadLocation("Asia/Kolkata"); err != nil && name == "json-5h-limit" {
				t.Skip("no time zones here, so the clock in the words is read as this machine's own")
			}
			if until != resets[name] || got.Denied != refusals[name] {
				t.Errorf("until %q, %d denied, want %q, %d", until, got.Denied, resets[name], refusals[name])
			}
			if (got.Denied > 0) != (got.Refused != "") {
				t.Errorf("%d denied, the last one %q", got.Denied, got.Refused)
			}
			if problem := badOutcome(got, sampled); problem != "" {
				t.Error(problem)
			}
		})
	}
	if len(rows) > 0 {
		t.Errorf("rows without a sample: %q", rows)
	}
	if want := documented(t)[output].Fails; want != nil && !slices.Equal(want, failures(table)) {
		t.Errorf("docs/testdata/agents.json has of %s the failures %q, and its samples %q", output, want, failures(table))
	}
}

// documented returns what docs/agents.md says of each agent.
func documented(t *testing.T) map[string]struct{ Fails []Class } {
	data, err := os.ReadFile("../../docs/testdata/agents.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]struct{ Fails []Class }
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for _, row := range BuiltIn() {
		if len(all[row.Name].Fails) == 0 {
			t.Errorf("docs/testdata/agents.json has no failures of %s", row.Name)
		}
	}
	return all
}

// failures returns the classes of a table for replay, beside Done.
func failures(table string) (all []Class) {
	for _, class := range []Class{Limit, Transient, Auth, Context, Budget, Turns, Failed, Interrupted, Died} {
		if slices.ContainsFunc(strings.Split(table, "\n"), func(row string) bool {
			cells := strings.Fields(row)
			return len(cells) > 2 && cells[2] == string(class)
		}) {
			all = append(all, class)
		}
	}
	return all
}
