package features

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Schemas is the URL of the folder of the JSON Schemas for features and prd, for editors.
const Schemas = "https://raw.githubusercontent.com/ralph-stop-hook/ralph-stop-hook/main/hooks/"

// The shapes that lists can be converted to.
const (
	ToFeatures = "features"
	ToPRD      = "prd"
	ToMarkdown = "markdown"
)

// outItem is an item as Convert writes it.
type outItem struct {
	ID                 string          `json:"id"`
	Title              string          `json:"title,omitempty"`
	Description        string          `json:"description,omitempty"`
	Acceptance         []string        `json:"acceptance,omitempty"`
	AcceptanceCriteria []string        `json:"acceptanceCriteria,omitempty"`
	Priority           *float32        `json:"priority,omitempty"`
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

// Convert returns the text of the list in another shape. Left returns what that shape cannot hold.
func (l List) Convert(to string) ([]byte, error) {
	if to == ToMarkdown {
		return l.markdown(), nil
	}
	items := []outItem{}
	for n := range l.all {
		if !l.all[n].isTombstone() {
			items = append(items, l.outItem(n, to == ToPRD))
		}
	}
	var list struct {
		Schema   string    `json:"$schema"`
		Features []outItem `json:"features,omitzero"`
		Stories  []outItem `json:"userStories,omitzero"`
	}
	switch to {
	case ToFeatures:
		list.Schema, list.Features = Schemas+"features.schema.json", items
	case ToPRD:
		list.Schema, list.Stories = Schemas+"prd.schema.json", items
	default:
		return nil, fmt.Errorf("there is no shape %q; want %s, %s or %s",
			plain.Line(to, 80), ToFeatures, ToPRD, ToMarkdown)
	}
	return jsontext.Indent(list)
}

// outItem returns the item at an index of all, with the keys of prd.json or our own.
func (l *List) outItem(at int, prd bool) outItem {
	item := &l.all[at]
	raw := func(key string) json.RawMessage { return json.RawMessage(gjson.Get(item.raw, key).Raw) }
	o := outItem{
		ID: item.ID, Title: item.Title(), Description: item.Description(), Model: item.Model(), Passes: item.Passes,
		Verify: raw("verify"), Verification: raw("verification"), CompletionCriteria: raw("completionCriteria"),
		TestFile: raw("test_file"),
	}
	acceptance, needs := &o.Acceptance, &o.Dependencies
	if prd {
		acceptance, needs = &o.AcceptanceCriteria, &o.DependsOn
	}
	*acceptance = item.Acceptance()
	for _, need := range l.allNeeds(item) {
		if need.item == nil && !need.fromTracker || need.item != nil && !need.item.isTombstone() {
			*needs = append(*needs, need.id)
		}
	}
	if whole := l.heldBy(item); whole != nil && !item.Passes && !item.Blocked {
		*needs = append(*needs, whole.ID)
	}
	for _, sub := range l.all[at-int(item.subtasks) : at] {
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
	case item.Blocked, item.later:
		o.Status = "blocked"
	}
	return o
}

// Left returns the keys of data, which Parse has read as l, whose values Convert leaves
// out, in the order of the text. Keys with an empty value do not count.
func (l *List) Left(data []byte, to string) (left []string) {
	marks := append([]string{"id", "subtasks"}, markKeys[finished:]...)
	carried := marks // the keys that Convert writes in some way
	if to != ToMarkdown {
		carried = slices.Concat(marks, []string{"status", "state", "priority", "model", "test_file"}, entryKeys, needKeys)
	}
	seen := map[string]bool{}
	for n := range l.all {
		item, keys := &l.all[n], carried
		if to == ToMarkdown && !item.Blocked {
			keys = slices.Concat(marks, []string{"status", "state"})
		}
		var values []string // those of other keys that Convert writes
		for _, parts := range [][]string{titleKeys(), descriptionKeys, acceptanceKeys()} {
			if v := item.firstOf(parts...).Raw; to != ToMarkdown || len(v) < maxDetails {
				values = append(values, v)
			}
		}
		left = appendLeft(left, seen, item.raw, keys, values)
	}
	if l.shape != lines && l.Tags == nil {
		left = appendLeft(left, seen, string(data[l.bom:]), []string{"$schema", l.shape.key}, nil)
	}
	return left
}

// appendLeft adds those keys of an object to left that are not among keys, whose values
// are not among values, and that are not in seen, to which it adds them.
func appendLeft(left []string, seen map[string]bool, object string, keys, values []string) []string {
	s := jsontext.Scanner{Text: object}
	if s.Peek() != '{' {
		return left
	}
	s.Enter()
	for key, _, ok := s.Key(); ok; key, _, ok = s.Key() {
		value := s.Skip()
		isEmpty := strings.Contains(`null "" [] {}`, value)
		if !isEmpty && !seen[key] && !slices.Contains(keys, key) && !slices.Contains(values, value) {
			seen[key] = true
			left = append(left, key)
		}
	}
	return left
}

// markdown returns the list as checkboxes. Items that are not work come below a heading that
// readMarkdown knows.
func (l *List) markdown() []byte {
	var work, notWork strings.Builder
	for n := range l.all {
		item := &l.all[n]
		title := plain.Line(cmp.Or(item.Title(), item.Description(), item.ID), 500)
		if !item.derived && slug(title) != item.ID {
			title = plain.Line(item.ID, maxID) + ": " + title
		}
		to, tick := &work, " "
		if item.dropped {
			to = &notWork
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
	if notWork.Len() > 0 {
		return []byte(work.String() + "\n## Optional\n\n" + notWork.String())
	}
	return []byte(work.String())
}
