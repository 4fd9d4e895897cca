package config

import (
	"path/filepath"
	"regexp"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// OwnChecks returns the checks that a feature brings itself, and what it says
// besides, which only a person can look at. Which text is a command and which is
// not is settled by ours, nil where all that reads like one is.
func OwnChecks(item features.Item, ours func(command string) bool) (checks []Check, manual []string) {
	for _, e := range item.Entries() {
		local := filepath.IsLocal(filepath.FromSlash(e.File))
		c := Check{Check: decide.Check{When: decide.WhenFeature, Features: []string{item.ID}}, Command: Command{Timeout: DefaultCheckTimeout}, Own: true}
		switch {
		case e.Kind == features.EntryCommand && (ours == nil || ours(e.Text)):
			c.Shell = e.Text
		case e.Kind == features.EntryExists && local:
			c.FileExists = e.File
		case e.Kind == features.EntryContains && local, e.Kind == features.EntryLacks && local:
			re, err := regexp.Compile(eachLine + e.Pattern)
			if err != nil {
				re = regexp.MustCompile(regexp.QuoteMeta(e.Pattern))
			}
			c.File, c.Pattern, c.Lacks = e.File, re, e.Kind == features.EntryLacks
		default:
			manual = append(manual, e.Text+e.File)
			continue
		}
		c.Name = c.String()
		c.Digest = checkDigest("own %q %q", item.ID, c.Name)
		checks = append(checks, c)
	}
	return checks, manual
}

// AddOwn adds the checks of the list's features, as far as a person has trusted
// them, and returns what only a person can look at, by feature. lost are the ids, as
// of features.List.Lost, of those that were reworded since.
func (c *InForce) AddOwn(list features.List, lost []string) map[string][]string {
	points := map[string][]string{}
	for _, item := range list.Items {
		_, gone := slices.BinarySearch(lost, item.ID)
		trusted := c.Features[item.ID] != "" && !gone
		checks, manual := OwnChecks(item, func(command string) bool { return trusted && !slices.Contains(c.Manual, command) })
		if !trusted {
			checks = nil
		}
		for i := range checks {
			if c.Revoked {
				c.withhold(&checks[i])
			}
		}
		c.Checks = append(c.Checks, checks...)
		if len(manual) > 0 {
			points[item.ID] = manual
		}
	}
	return points
}
