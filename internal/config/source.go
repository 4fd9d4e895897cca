package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Source is "source": the commands of a tracker whose items are the list. Those of
// one item have PlaceID as one of their words.
type Source struct {
	List      Command // prints all items
	Reopen    Command // opens one again; may be missing
	Show      Command // prints one; may be missing
	Untrusted bool    // nobody has trusted them
}

// PlaceID stands for an item's id in the words of a command.
const PlaceID = "${id}"

// Given tells whether there is one.
func (s Source) Given() bool { return s.List.Runs() }

// Commands returns those that there are.
func (s Source) Commands() []Command {
	return slices.DeleteFunc([]Command{s.List, s.Reopen, s.Show}, func(c Command) bool { return !c.Runs() })
}

// For returns the command for the item of that id.
func (c Command) For(id string) (Command, error) {
	odd := strings.Trim(strings.ToLower(id), "abcdefghijklmnopqrstuvwxyz0123456789._:-") != ""
	if odd || id == "" || len(id) > 64 || strings.IndexByte("._:-", id[0]) >= 0 {
		return c, fmt.Errorf("the id %.80q is none that is handed to a command", id)
	}
	c.Argv = slices.Clone(c.Argv)
	for i := range c.Argv {
		if c.Argv[i] == PlaceID {
			c.Argv[i] = id
		}
	}
	return c, nil
}

func (p *parser) source(v gjson.Result) (s Source) {
	words := func(to *Command, key string, places bool) func(gjson.Result) {
		return func(v gjson.Result) {
			if *to = p.command(v, key); to.Shell != "" {
				p.fail(v, `%q must be an array of words, such as ["bd", "list", "--json"]`, key)
			}
			if slices.Contains(to.Argv, PlaceID) != places || slices.ContainsFunc(to.Argv, func(w string) bool { return w != PlaceID && strings.Contains(w, PlaceID) }) {
				p.fail(v, `%q must %s %s as a word of its own`, key, map[bool]string{true: "have", false: "not have"}[places], PlaceID)
			}
		}
	}
	p.object(v, `"source"`, map[string]func(gjson.Result){
		"list":   words(&s.List, "list", false),
		"reopen": words(&s.Reopen, "reopen", true),
		"show":   words(&s.Show, "show", true),
	})
	if !s.Given() {
		p.fail(v, `"source" must have "list", the command that prints all items`)
	}
	return s
}
