package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// ListChecks turns what features.Item.Entries returns for these features into list checks.
func ListChecks(items ...features.Item) (checks []Check) {
	for _, item := range items {
		first := len(checks)
		for _, e := range item.Entries() {
			c := Check{
				Check:    decide.Check{When: decide.WhenClaim, PerClaim: true, Features: []string{item.ID}},
				Command:  Command{Timeout: DefaultCheckTimeout, Shell: e.Text, Argv: e.Argv},
				FromList: true,
			}
			switch e.Kind {
			case features.EntryText:
				continue
			case features.EntryExists:
				c.FileExists = e.File
			case features.EntryContains, features.EntryLacks:
				pattern := strings.ToValidUTF8(e.Pattern, "\uFFFD") // as which regexp reads a byte that is no UTF-8
				re, err := regexp.Compile(eachLine + pattern)
				if err != nil { // then it is plain text
					re = regexp.MustCompile(regexp.QuoteMeta(pattern))
				}
				c.File = e.File
				c.Pattern = re
				c.Lacks = e.Kind == features.EntryLacks
			}
			c.Name = c.String()
			c.Digest = checkDigest("own %q %q", item.ID, c.Name)
			if !slices.ContainsFunc(checks[first:], func(other Check) bool { return other.Digest == c.Digest }) {
				checks = append(checks, c)
			}
		}
	}
	return checks
}

// AddListChecks adds the list checks of the features that a person has trusted. If nobody has trusted the list's
// checks, none of them runs, and no condition either: an agent may have written it.
func (c *Effective) AddListChecks(list features.List) {
	for _, item := range list.Items {
		if item.IsAdded {
			continue
		}
		checks := ListChecks(item)
		for i := range checks {
			switch {
			case !c.ListChecks:
				checks[i].Untrusted = true
				c.UntrustedOfList++
			case c.Revoked:
				c.distrust(&checks[i].Command)
			}
		}
		c.Checks = append(c.Checks, checks...)
	}
}
