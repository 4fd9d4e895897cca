package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// DefaultCheckTimeout is how long a check may run when ralph.json gives no timeout.
const DefaultCheckTimeout = 5 * time.Minute

// Check is one entry of "checks", or a list check: one that a feature of the list
// brings. It is a command that must exit with 0, or a condition on a file or on the
// agent's last message.
type Check struct {
	decide.Check
	Command
	FileExists  string         // this file must exist; a slash-separated path below the project's root
	File        string         // the file to search for Pattern; a path like FileExists
	Pattern     *regexp.Regexp // must match in File or in the last message
	Lacks       bool           // turns it around: Pattern must not match in File
	LastMessage bool           // Pattern must match in the agent's last message
	FromList    bool           // it is a list check
	In          string         // InCopy or InProject; empty: InCopy
}

// Where a check runs.
const (
	InCopy    = "copy"    // in the clean copy
	InProject = "project" // in the project as it is, where the agent can edit what it runs
)

// String shows what the check does. It is the name of a check that has none.
func (c Check) String() string {
	switch {
	case c.FileExists != "":
		return "file_exists " + c.FileExists
	case c.LastMessage:
		return fmt.Sprintf("last_message %q", c.Expression())
	case c.Lacks:
		return fmt.Sprintf("file_lacks %s %q", c.File, c.Expression())
	case c.Pattern != nil:
		return fmt.Sprintf("file_contains %s %q", c.File, c.Expression())
	}
	return c.Command.String()
}

// Expression returns Pattern as a person wrote it. Pattern must be set.
func (c Check) Expression() string { return strings.TrimPrefix(c.Pattern.String(), eachLine) }

// eachLine is the flag that lets ^ and $ match at each line.
const eachLine = "(?m)"

// checks reads "checks": a list of checks with different names.
func (p *parser) checks(v gjson.Result, key string, c *Config) {
	if !v.IsArray() {
		p.fail(v, `%q must be a list of objects such as {"command": "make test"}`, key)
	}
	names := map[string]bool{}
	for _, value := range v.Array() {
		check := p.check(value)
		if names[check.Name] {
			p.fail(value, "two checks are named %q", check.Name)
		}
		names[check.Name] = true
		c.Checks = append(c.Checks, check)
	}
}

func (p *parser) check(v gjson.Result) Check {
	c := Check{Check: decide.Check{When: decide.WhenClaim}, Command: Command{Timeout: DefaultCheckTimeout}}
	p.oldWhen(v)
	readObject(p, v, "a check", checkKeys, &c)
	if line := v.Get("command"); line.Exists() {
		c.Shell, c.Argv = p.words(line, "checks")
	}
	kinds := 0
	for _, kind := range gjson.GetMany(v.Raw, "command", "file_exists", "file_contains", "last_message") {
		if kind.Exists() {
			kinds++
		}
	}
	if kinds != 1 {
		p.fail(v, `a check must have one of "command", "file_exists", "file_contains" and "last_message"`)
		return c
	}
	if !c.Runs() && c.FileExists == "" && c.Pattern == nil {
		p.fail(v, "the check is empty")
	}
	if p.err != nil {
		return c
	}
	if c.When != decide.WhenClaim && len(c.Features) > 0 {
		p.fail(v, `"features" works only with "when": "claim"`)
	}
	c.PerClaim = c.When == decide.WhenClaim && (len(c.Features) > 0 || c.namesFeature())
	if c.Name == "" {
		c.Name = c.String()
	}
	c.Digest = checkDigest("%q %q %q %q %q %q %v %v %v",
		c.Name, c.When, c.Shell, c.Argv, c.String(), c.Features, c.Timeout, c.LastMessage, c.In == InProject)
	return c
}

// oldWords have the words of "when" that are gone, and what means the same now.
var oldWords = map[string]string{
	"feature":   decide.WhenClaim,
	"iteration": decide.WhenStop,
	"complete":  decide.WhenEnd,
}

// oldWhen refuses an old word of "when", and names the new one.
func (p *parser) oldWhen(check gjson.Result) {
	v := check.Get("when")
	if word, old := oldWords[v.Str]; old {
		p.fail(v, `"when": %q is now called %q`, v.Str, word)
	}
}

// namesFeature reports whether the command is about one feature: it names the variable that has the feature's id.
func (c Command) namesFeature() bool {
	names := func(word string) bool { return strings.Contains(word, "RALPH_FEATURE") }
	return names(c.Shell) || slices.ContainsFunc(c.Argv, names)
}

// checkDigest returns the digest of a text that has all that a check does.
func checkDigest(format string, args ...any) string {
	return digest(fmt.Appendf(nil, format, args...))[:20]
}

// featureIDs reads ids, which may be numbers.
func (p *parser) featureIDs(v gjson.Result, key string, c *Check) {
	for _, id := range v.Array() {
		c.Features = append(c.Features, id.String())
	}
	if len(c.Features) == 0 {
		p.fail(v, "%q must be a list of ids", key)
	}
}

func (p *parser) fileContains(v gjson.Result, key string, c *Check) {
	readObject(p, v, fmt.Sprintf("%q", key), containsKeys, c)
	if c.File == "" || c.Pattern == nil {
		p.fail(v, `%q must have "file" and "pattern"`, key)
	}
}

func (p *parser) lastMessage(v gjson.Result, key string, c *Check) {
	c.LastMessage = true
	p.pattern(v, key, c)
}

// pattern reads the regular expression of a check. In it . matches no line break, and ^ and $
// match at each line.
func (p *parser) pattern(v gjson.Result, key string, c *Check) {
	c.Pattern = p.compile(v, eachLine+p.str(v, key))
}
