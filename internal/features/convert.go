package features

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Schemas is where the JSON Schemas of our own shapes are, for editors.
const Schemas = "https://raw.githubusercontent.com/ralph-stop-hook/ralph-stop-hook/main/hooks/"

// The shapes that lists can be converted to.
const (
	ToFeatures = "features"
	ToPRD      = "prd"
	ToMarkdown = "markdown"
)

// own is an item as our own shapes have it.
type own struct {
	ID                 string          `json:"id"`
	Title              string          `json:"title,omitempty"`
	Description        string          `json:"description,omitempty"`
	Acceptance         []string        `json:"acceptance,omitempty"`
	AcceptanceCriteria []string        `json:"acceptanceCriteria,omitempty"`
	Priority           *int32          `json:"priority,omitempty"`
	Model              string          `json:"model,omitempty"`
	Dependencies       []string        `json:"dependencies,omitempty"`
	DependsOn          []string        `json:"dependsOn,omitempty"`
	Verify             json.RawMessage `json:"verify,omitempty"`
	Verification       json.RawMessage `json:"verification,omitempty"`
	CompletionCriteria json.RawMessage `json:"completionCriteria,omitempty"`
	TestFile           json.RawMessage `json:"test_file,omitempty"`
	Status             string          `json:"status,omitempty"` // blocked or cancelled
	Passes             bool            `json:"passes"`
}

// Convert writes the list in another shape; Left says what that has no room for.
func (l List) Convert(to string) ([]byte, error) {
	if to == ToMarkdown {
		return l.markdown(), nil
	}
	items := []own{}
	for n := range l.all {
		items = append(items, l.own(n, to == ToPRD))
	}
	var list struct {
		Schema   string `json:"$schema"`
		Features []own  `json:"features,omitzero"`
		Stories  []own  `json:"userStories,omitzero"`
	}
	switch to {
	case ToFeatures:
		list.Schema, list.Features = Schemas+"features.schema.json", items
	case ToPRD:
		list.Schema, list.Stories = Schemas+"prd.schema.json", items
	default:
		return nil, fmt.Errorf("there is no shape %q; want %s, %s or %s", plain.Line(to, 80), ToFeatures, ToPRD, ToMarkdown)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(list)
	return text.Bytes(), err
}

func (l *List) own(at int, prd bool) own {
	item := &l.all[at]
	raw := func(key string) json.RawMessage { return json.RawMessage(gjson.Get(item.raw, key).Raw) }
	o := own{
		ID: item.ID, Title: item.Title(), Description: item.Description(), Model: item.Model(), Passes: item.Passes,
		Verify: raw("verify"), Verification: raw("verification"), CompletionCriteria: raw("completionCriteria"), TestFile: raw("test_file"),
	}
	acceptance, needs := &o.Acceptance, &o.Dependencies
	if prd {
		acceptance, needs = &o.AcceptanceCriteria, &o.DependsOn
	}
	*acceptance = item.Acceptance()
	for _, need := range l.needsOf(item) {
		if need.item != nil || !need.record {
			*needs = append(*needs, need.id)
		}
	}
	for _, sub := range l.all[at-int(item.kids) : at] {
		if !sub.dropped {
			*needs = append(*needs, sub.ID)
		}
	}
	if item.Priority != noPriority {
		o.Priority = &item.Priority
	}
	switch {
	case item.dropped:
		o.Status = "cancelled"
	case item.Blocked:
		o.Status = "blocked"
	}
	return o
}

// Left returns the keys of data, which Parse has read as l, that hold something which
// Convert leaves out.
func (l *List) Left(data []byte, to string) (left []string) {
	marks := []string{"id", "subtasks", "passes", "completed"}
	inJSON := slices.Concat(marks, []string{"status", "priority", "model", "test_file"}, entryKeys, needKeys)
	seen := map[string]bool{}
	look := func(text string, carried, kept []string) {
		s := jsontext.Scanner{Text: text}
		if s.Peek() != '{' {
			return
		}
		s.Enter()
		for key, _, ok := s.Key(); ok; key, _, ok = s.Key() {
			value := s.Skip()
			if !strings.Contains(`null "" [] {}`, value) && !slices.Contains(carried, key) && !slices.Contains(kept, value) && !seen[key] {
				seen[key] = true
				left = append(left, key)
			}
		}
	}
	for n := range l.all {
		item, carried := &l.all[n], inJSON
		if to == ToMarkdown {
			if carried = marks; !item.Blocked {
				carried = slices.Concat(marks, []string{"status"})
			}
		}
		var kept []string
		for _, keys := range [][]string{titleKeys, descriptionKeys, acceptanceKeys} {
			if v := item.first(keys...).Raw; to != ToMarkdown || len(v) < maxDetails {
				kept = append(kept, v)
			}
		}
		look(item.raw, carried, kept)
	}
	if l.shape != lines && l.Tags == nil {
		look(string(data[l.bom:]), []string{"$schema", l.shape.key}, nil)
	}
	return left
}

func (l *List) markdown() []byte {
	var work, aside strings.Builder
	for n := range l.all {
		item := &l.all[n]
		title := plain.Line(cmp.Or(item.Title(), item.Description(), item.ID), 500)
		if !item.derived && slug(title) != item.ID {
			title = plain.Line(item.ID, maxID) + ": " + title
		}
		to, tick := &work, " "
		if item.dropped {
			to = &aside
		}
		if item.Passes {
			tick = "x"
		}
		fmt.Fprintf(to, "- [%s] %s\n", tick, title)
		if item.Title() != "" && item.Description() != "" {
			fmt.Fprintf(to, "  %s\n", plain.Line(item.Description(), maxDetails))
		}
		for _, text := range item.Acceptance() {
			fmt.Fprintf(to, "  * %s\n", plain.Line(text, maxDetails))
		}
	}
	if aside.Len() > 0 {
		return []byte(work.String() + "\n## Optional\n\n" + aside.String())
	}
	return []byte(work.String())
}
