//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// step is one line of a model's script, and one answer to the agent.
type step struct {
	verb  string          // say, tool, status, limit, cut or loop
	text  string          // what is said, or the body of a status
	tool  string          // the tool's name
	input json.RawMessage // the tool's input
	shell string          // a command for the shell's tool, whose name differs between clients
	code  int             // the HTTP status
	reset time.Duration   // of a limit: until it is reset
	usage usage
}

// usage is what the API says that an answer used, in tokens.
type usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens,omitempty"`
	CacheWrite int64 `json:"cache_creation_input_tokens,omitempty"`
}

// usual is what an answer used if the script does not say it.
var usual = usage{Input: 10, Output: 10}

// parseScript reads a model's script, one step a line:
//
//	say TEXT            a text that ends the turn
//	text "TEXT"         the same, with escapes as Go has them
//	bash COMMAND        a call of the Bash tool
//	tool NAME INPUT     a call of any tool, with its input as JSON
//	status CODE BODY    an HTTP status with a JSON body
//	limit DURATION      the answer of a subscription whose limit is used up until
//	                    then
//	usage IN OUT READ WRITTEN
//	                    what each answer from here on is said to have used, in
//	                    tokens: READ from the cache, and WRITTEN to it
//	cut                 the first half of a streamed text, and no more
//	loop                start again from the first line, for ever
//	for TEXT            what follows is said to those whose prompt holds TEXT,
//	                    such as a subagent with a prompt of its own
//
// Empty lines and lines that begin with # are skipped.
func parseScript(script string) (parts []*part, err error) {
	parts = []*part{{}}
	used := usual
	for i, line := range strings.Split(script, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if who, ok := strings.CutPrefix(line, "for "); ok {
			parts = append(parts, &part{who: who})
			continue
		}
		if tokens, ok := strings.CutPrefix(line, "usage "); ok {
			if _, err := fmt.Sscan(tokens, &used.Input, &used.Output, &used.CacheRead, &used.CacheWrite); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			continue
		}
		s, err := parseStep(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if s.verb == "say" || s.verb == "tool" {
			s.usage = used
		}
		p := parts[len(parts)-1]
		if s.verb == "loop" && len(p.steps) == 0 {
			return nil, fmt.Errorf("line %d: nothing to loop over", i+1)
		}
		p.steps = append(p.steps, s)
	}
	return parts, nil
}

// part is what a script says to one agent: the main one, or those whose prompt
// holds a text.
type part struct {
	who   string // empty for the main agent
	steps []step
	next  int
}

// take returns the part's next step.
func (p *part) take() step {
	if p.next < len(p.steps) && p.steps[p.next].verb == "loop" {
		p.next = 0
	}
	if p.next == len(p.steps) {
		return step{verb: "say", text: "the script is over", usage: usual}
	}
	p.next++
	return p.steps[p.next-1]
}

// parseStep reads one line of a model's script.
func parseStep(line string) (step, error) {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "say":
		return step{verb: "say", text: rest}, nil
	case "text":
		text, err := strconv.Unquote(rest)
		return step{verb: "say", text: text}, err
	case "bash":
		input, err := json.Marshal(map[string]string{"command": rest, "description": "scripted"})
		return step{verb: "tool", tool: "Bash", input: input, shell: rest}, err
	case "tool":
		name, input, _ := strings.Cut(rest, " ")
		if !json.Valid([]byte(input)) {
			return step{}, fmt.Errorf("the input of tool %s is not JSON", name)
		}
		return step{verb: "tool", tool: name, input: json.RawMessage(input)}, nil
	case "status":
		code, body, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(code)
		return step{verb: "status", code: n, text: body}, err
	case "limit":
		reset, err := time.ParseDuration(rest)
		return step{verb: "limit", reset: reset}, err
	case "cut":
		return step{verb: "cut", text: strings.Repeat("Not all of this arrives. ", 20)}, nil
	case "loop":
		return step{verb: "loop"}, nil
	}
	return step{}, fmt.Errorf("unknown step %q", verb)
}
