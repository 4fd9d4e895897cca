package features

import (
	"strings"
	"testing"
)

// TestOutline gives lists of Markdown, and which items can be worked on, each time after those before have passed.
func TestOutline(t *testing.T) {
	for name, tc := range map[string]struct{ text, steps string }{
		"Kiro": {`- [ ] 1. Add accounts
  - [ ] 1.1 Store the password hash
  - [ ] 1.2 Compare the password
    - _Requirements: 1.2_
- [ ]* 2. Write more tests
- [ ] 3. Add sessions
  - [ ]* 3.1 Measure them
`, "1.1 1.2 3; 1"},
		"OpenSpec": {`## 1. Storage

- [ ] 1.1 Create the table
- [ ] 1.2 Write rows
  **Dependencies**: 1.1
- [ ] 1.3 Document the columns
  **Depends on**: none
- [ ] 1.4 Read rows
  - depends on: task 1.2, and 1.3.
`, "1.1 1.3; 1.2; 1.4"},
		"other words": {`- [ ] 1.1 Create the table
- [ ] 1.2 Write rows
  - _Depends: 1.3_
- [ ] 1.3 Name the columns
  - Blocked by: 1.1
- [ ] 1.4 Read rows
  - It depends: on 1.2
`, "1.1 1.4; 1.3; 1.2"},
		"spec-kit": {`# Tasks: Export

## Phase 1: Setup
- [ ] T001 Create the package in src/export
- [ ] T002 [P] Configure the linter in .lint.toml
- [ ] T003 [P] Add the licence header in src/export/doc.go

## Phase 2: Core
- [ ] T004 [US1] Write the encoder in src/export/encode.go
- [ ] T005 [P] [US1] Write the examples in examples/export
`, "T001; T002 T003; T004; T005"},
		"spec-kit with a checklist at its end": {`- [ ] T001 a
- [ ] T002 [US1] [P] b
- [ ] T003 [P] c
- [ ] **T004** d
## Validation
- [ ] e
- [ ] f
`, "T001; T002 T003; **T004**; e; f"},
		"a list in which a few items look so": {`- [ ] T001 a
- [ ] b
- [ ] c
`, "T001 b c"},
		"an item that names what it is in, and itself": {`- [ ] 1. a
  - [ ] 1.1 b
    Depends on: 1, 1.1
`, "1.1; 1"},
		"what the item needs that another one is nested in": {`- [ ] 1. a
- [ ] 2. b
  Depends on: 1
  - [ ] 2.1 c
    - [ ] 2.1.1 d
`, "1; 2.1.1; 2.1; 2"},
		"a label that is there twice": {`- [ ] 1. a
- [ ] 1. b
- [ ] 2. c
  Depends on: 1
`, "1 1 2"},
		"prose": {`- [ ] 1 a
- [ ] the b
- [ ] 3 c
  It depends on 1.
  Dependencies are in go.mod: 1
  Depends on: the parser
`, "1 the 3"},
	} {
		l, err := Parse([]byte(tc.text))
		if err != nil {
			t.Fatal(err)
		}
		var steps []string
		for range tc.steps {
			var ready []string
			for n := range l.all {
				item := &l.all[n]
				if item.Workable() && !item.dropped {
					label, _, _ := strings.Cut(item.Title(), " ")
					ready = append(ready, strings.Trim(label, "."))
				}
			}
			for n := range l.all {
				l.all[n].Passes = l.all[n].Passes || l.all[n].Workable()
			}
			l.findWaiting()
			if len(ready) > 0 {
				steps = append(steps, strings.Join(ready, " "))
			}
		}
		if got := strings.Join(steps, "; "); got != tc.steps {
			t.Errorf("%s: got %s, want %s", name, got, tc.steps)
		}
	}
}
