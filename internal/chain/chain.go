// Package chain reads the definition of a chain of agents: "planner:10 -> builder:20".
package chain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Step is one part of a chain: an agent, and how many iterations it may have.
type Step struct {
	Agent string `json:"agent"`
	Limit int    `json:"limit"`

	// It reviews the work of the step before, which works again when features are open then.
	Reviews bool `json:"reviews,omitempty"`
}

// Chain has the steps in their order; there is at least one.
type Chain []Step

// The bounds of a definition.
const (
	MaxText  = 4096 // bytes
	MaxSteps = 100
	MaxLimit = 1_000_000 // iterations of a step
)

// What stands between two steps.
const (
	Arrow = "->"
	Both  = "<->" // the step behind it reviews the one before it, in turns
)

// Parse reads a definition: steps that an arrow joins, each NAME:LIMIT. One of the arrows may be Both. Blanks between
// the parts are free. A name with other characters than letters, digits, and . _ - + @ stands in quotes of either kind.
// Errors are of type *Error.
func Parse(text string) (Chain, error) {
	p := &parser{text: text}
	switch at := strings.IndexFunc(text, forbidden); {
	case len(text) > MaxText:
		return nil, p.fail(MaxText, "the chain has more than %d bytes", MaxText)
	case at >= 0:
		return nil, p.fail(at, "this character cannot be part of a chain")
	}
	return p.chain()
}

// forbidden reports whether a character has no place in a definition, not even in a quoted name.
func forbidden(r rune) bool {
	return r == utf8.RuneError || !unicode.IsPrint(r) && r != '\n' && r != '\r' && r != '\t'
}

// String writes the chain in its usual form. Parse reads that as the same chain.
func (c Chain) String() string {
	var b strings.Builder
	for i, step := range c {
		switch {
		case step.Reviews:
			b.WriteString(" " + Both + " ")
		case i > 0:
			b.WriteString(" " + Arrow + " ")
		}
		fmt.Fprintf(&b, "%s:%d", quoted(step.Agent), step.Limit)
	}
	return b.String()
}

// ReviewedStep returns the index of the step whose work another one reviews, -1 if there is none.
func (c Chain) ReviewedStep() int {
	return max(0, slices.IndexFunc(c, func(step Step) bool { return step.Reviews })) - 1
}

// IsName reports whether text can only be the name of a chain: it has neither a limit nor an arrow.
func IsName(text string) bool {
	return text != "" && strings.IndexFunc(text, func(r rune) bool { return !inName(r) }) < 0
}

func quoted(name string) string {
	switch {
	case IsName(name):
		return name
	case strings.Contains(name, `"`):
		return "'" + name + "'"
	}
	return `"` + name + `"`
}

func inName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("._-+@", r)
}

// parser reads a definition from its beginning.
type parser struct {
	text string
	at   int // byte offset of what is read next
}

func (p *parser) fail(at int, format string, args ...any) error {
	return &Error{Text: p.text, At: at, Problem: fmt.Sprintf(format, args...)}
}

func (p *parser) rest() string { return p.text[p.at:] }

func (p *parser) atEnd() bool { return p.at == len(p.text) }

func (p *parser) blanks() {
	p.at += len(p.rest()) - len(strings.TrimLeftFunc(p.rest(), unicode.IsSpace))
}

// arrow returns the arrow that is next, "" if none is.
func (p *parser) arrow() string {
	for _, arrow := range []string{Arrow, Both} {
		if strings.HasPrefix(p.rest(), arrow) {
			return arrow
		}
	}
	return ""
}

func (p *parser) chain() (c Chain, err error) {
	for arrow := ""; ; {
		p.blanks()
		begin := p.at
		step, err := p.step(arrow)
		if err != nil {
			return nil, err
		}
		step.Reviews = arrow == Both
		if step.Reviews && step.Limit < 2 {
			return nil, p.fail(begin, "%s needs at least 2 iterations behind %s: it reviews again what was built anew",
				step.Agent, Both)
		}
		c = append(c, step)
		if len(c) > MaxSteps {
			return nil, p.fail(p.at, "the chain has more than %d steps", MaxSteps)
		}
		end := p.at
		p.blanks()
		arrow = p.arrow()
		switch {
		case p.atEnd():
			return c, nil
		case arrow == "":
			return nil, p.noArrow(end)
		case arrow == Both && c.ReviewedStep() >= 0:
			return nil, p.fail(p.at, "a chain has one %s at most", Both)
		}
		p.at += len(arrow)
	}
}

// noArrow says what is wrong where an arrow or the end is missing. end is where the step before ends.
func (p *parser) noArrow(end int) error {
	for _, other := range []string{"→", "⇒", "=>", "-->", "—>", "–>", ">", "|", ",", ";", "&", "then ", "-"} {
		if strings.HasPrefix(p.rest(), other) {
			return p.fail(p.at, "%q joins no steps; write %s between them", strings.TrimSpace(other), Arrow)
		}
	}
	for _, other := range []string{"↔", "⇔", "<=>", "<-->", "<-", "<"} {
		if strings.HasPrefix(p.rest(), other) {
			return p.fail(p.at, "%q joins no steps; write %s between them", other, Both)
		}
	}
	if p.at == end {
		return p.fail(p.at, "a limit has only digits, such as 10")
	}
	return p.fail(p.at, "want %s and the next step, or the end", Arrow)
}

// step reads NAME:LIMIT. behind is the arrow before it; "": it is the first one.
func (p *parser) step(behind string) (Step, error) {
	switch begin := p.at; {
	case p.atEnd() && behind == "":
		return Step{}, p.fail(begin, "the chain is empty; write it like planner:10 %s builder:20", Arrow)
	case p.atEnd():
		return Step{}, p.fail(begin, "a step is missing behind the last %s", behind)
	case p.arrow() != "":
		return Step{}, p.fail(begin, "a step is missing before this %s", p.arrow())
	case strings.HasPrefix(p.rest(), ":"):
		return Step{}, p.fail(begin, "the name of an agent is missing before the limit")
	}
	name, err := p.name()
	if err != nil {
		return Step{}, err
	}
	end := p.at
	p.blanks()
	if !strings.HasPrefix(p.rest(), ":") {
		return Step{}, p.noLimit(name, end)
	}
	p.at++
	p.blanks()
	limit, err := p.limit(name)
	return Step{Agent: name, Limit: limit}, err
}

// noLimit says what is wrong where the colon of a step is missing.
func (p *parser) noLimit(name string, end int) error {
	if p.atEnd() || p.arrow() != "" {
		return p.fail(end, "say how many iterations %s may have: %s:10", name, quoted(name))
	}
	r, _ := utf8.DecodeRuneInString(p.rest())
	switch {
	case p.at == end && (r == '"' || r == '\''):
		return p.fail(p.at, "a quote begins in the middle of a name")
	case p.at == end && !unicode.IsSpace(r):
		return p.fail(p.at, "a name with %q stands in quotes", string(r))
	case unicode.IsDigit(r):
		return p.fail(p.at, "a colon is missing between %s and its limit", name)
	}
	return p.fail(p.at, "want a colon and a limit behind %s; a name with a blank stands in quotes", name)
}

// name reads the name of an agent.
func (p *parser) name() (string, error) {
	begin := p.at
	if quote := p.text[begin]; quote == '"' || quote == '\'' {
		length := strings.IndexByte(p.text[begin+1:], quote)
		if length < 0 {
			return "", p.fail(begin, "this quote has no end")
		}
		name := p.text[begin+1 : begin+1+length]
		switch {
		case strings.TrimSpace(name) == "":
			return "", p.fail(begin, "the name between these quotes is empty")
		case strings.ContainsAny(name, "\n\r\t"):
			return "", p.fail(begin, "a name has one line, and no tab")
		}
		p.at += length + 2
		return name, nil
	}
	for p.at < len(p.text) && !strings.HasPrefix(p.rest(), Arrow) {
		r, size := utf8.DecodeRuneInString(p.rest())
		if !inName(r) {
			break
		}
		p.at += size
	}
	if p.at == begin {
		r, _ := utf8.DecodeRuneInString(p.rest())
		return "", p.fail(begin, "want the name of an agent; a name with %q stands in quotes", string(r))
	}
	return p.text[begin:p.at], nil
}

// limit reads how many iterations a step may have.
func (p *parser) limit(name string) (int, error) {
	begin := p.at
	for !p.atEnd() && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	digits := p.text[begin:p.at]
	n, err := strconv.Atoi(digits)
	switch {
	case digits == "" && (p.atEnd() || p.arrow() != ""):
		return 0, p.fail(begin, "the limit of %s is missing behind the colon, such as 10", name)
	case digits == "":
		return 0, p.fail(begin, "the limit of %s must be a whole number, such as 10", name)
	case err != nil || n < 1 || n > MaxLimit:
		return 0, p.fail(begin, "the limit of %s must be from 1 to %d", name, MaxLimit)
	}
	return n, nil
}
