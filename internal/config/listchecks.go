package config

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// ListChecks turns the entries of a feature, as features.Item.Entries returns them,
// into list checks and manual points. A manual point is a text that only a person
// can check. An entry that only reads like a command becomes a check if isCommand accepts
// its text.
func ListChecks(item features.Item, isCommand func(text string) bool) (checks []Check, manual []string) {
	for _, e := range item.Entries() {
		local := filepath.IsLocal(filepath.FromSlash(e.File))
		c := Check{
			Check:    decide.Check{When: decide.WhenFeature, Features: []string{item.ID}},
			Command:  Command{Timeout: DefaultCheckTimeout},
			FromList: true,
		}
		switch {
		case e.Kind == features.EntryCommand && (!e.Guessed || isCommand(e.Text)):
			c.Shell = e.Text
		case e.Kind == features.EntryExists && local:
			c.FileExists = e.File
		case e.Kind == features.EntryContains && local, e.Kind == features.EntryLacks && local:
			pattern := strings.ToValidUTF8(e.Pattern, "\uFFFD") // as which regexp reads a byte that is no UTF-8
			re, err := regexp.Compile(eachLine + pattern)
			if err != nil { // then it is plain text
				re = regexp.MustCompile(regexp.QuoteMeta(pattern))
			}
			c.File = e.File
			c.Pattern = re
			c.Lacks = e.Kind == features.EntryLacks
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

// AddListChecks adds the list checks of the features that a person has trusted, and returns the manual
// points of each feature by its id. A feature of lost, which is what
// features.List.Lost returned, was reworded since, so its checks are not trusted. If nobody has trusted the list's
// checks, none of them runs, and no condition either: an agent may have written it. isCommand then tells the commands.
func (c *Effective) AddListChecks(list features.List, lost []string, isCommand func(string) bool) map[string][]string {
	manualPoints := map[string][]string{}
	if c.ListChecks {
		isCommand = func(text string) bool { return !slices.Contains(c.NotCommands, text) }
	}
	for _, item := range list.Items {
		_, reworded := slices.BinarySearch(lost, item.ID)
		trusted := !reworded && (c.Features[item.ID] != "" || len(c.Features) == 0 && !c.ListChecks)
		checks, manual := ListChecks(item, func(text string) bool { return trusted && isCommand(text) })
		if !trusted {
			checks = nil
		}
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
		if len(manual) > 0 && c.ListChecks {
			manualPoints[item.ID] = manual
		}
	}
	return manualPoints
}
