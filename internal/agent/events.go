package agent

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// dialect is what differs between agents that print one JSON object a line.
type dialect struct {
	// read reads one event. Events that it does not know change nothing.
	read func(p *eventParser, e event)
	// exits are what an exit status means if the session has begun, and its last event has not come.
	exits map[int]Class
	// noise is how lines of standard error begin that do not say why a session did not begin.
	noise []string
}

// eventParser reads one JSON object a line, as its dialect says.
type eventParser struct {
	dialect
	transcript
	failure *failure // that has not been mended; nil: none
	halted  bool     // the agent says that it was interrupted
	pending bool     // with opencode: the next end is that of a summary
	piece   bool     // the last event was a piece of a text
	pieces  []byte   // of that text, as one JSON text
}

// failure is an error that an agent reports.
type failure struct {
	words  string // cleaned
	status int64  // the HTTP status of the provider's answer; 0: not known
	class  Class  // "": the words and the status say it
}

// event is one JSON object.
type event struct{ gjson.Result }

// at returns the value at a path.
func (e event) at(path string) rawJSON { return rawJSON(e.Get(path).Raw) }

// first returns the first text that an object has at one of the paths.
func (e event) first(paths ...string) rawJSON {
	for _, path := range paths {
		if value := e.Get(path); value.Type == gjson.String {
			return rawJSON(value.Raw)
		}
	}
	return ""
}

// toolSubjects are the arguments that say best what a tool works on, the best one first.
var toolSubjects = []string{
	"command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description", "skill",
}

// maxBlocks is how many blocks of a message are read: the first ones, and the last one.
const maxBlocks = 64

// blocks returns the parts of a message: texts, calls of tools, and their results.
func (e event) blocks() (all []event) {
	for _, block := range e.Get("message.content").ForEach {
		all = append(all[:min(len(all), maxBlocks-1)], event{block})
	}
	return all
}

// subject returns what a tool works on: the best of its arguments, which are at a path.
func (e event) subject(path string) rawJSON { return event{e.Get(path)}.first(toolSubjects...) }

// parse reads a line of JSON. What is none changes nothing: it is an event without a type.
func (t *transcript) parse(line []byte, cut bool) event {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, jsontext.BOM))
	if len(line) == 0 || cut {
		return event{}
	}
	if line[0] != '{' {
		t.plainLine = string(line[:min(len(line), 4*textChars)])
	}
	text, err := jsontext.Check(line)
	if err != nil {
		t.torn = t.torn || line[0] == '{'
		return event{}
	}
	return event{gjson.Parse(jsontext.String(text))}
}

func (p *eventParser) Line(line []byte, cut bool) {
	if e := p.parse(line, cut); e.IsObject() {
		p.read(p, e)
	}
}

// fails notes an error. What follows may mend it.
func (p *eventParser) fails(words rawJSON, status int64) {
	text := strings.Clone(plain.Line(words.head(4*problemChars), problemChars))
	p.failure = &failure{words: text, status: cmp.Or(status, statusIn(text, statusWords))}
}

// continues notes a text that comes in pieces, without anything between them. The pieces share one buffer.
func (p *eventParser) continues(text rawJSON, delta bool) {
	if len(text) < 2 || text[0] != '"' {
		return
	}
	if !delta || !p.piece {
		p.pieces = []byte(`""`)
	}
	p.piece = true
	p.pieces = append(p.pieces[:len(p.pieces)-1], text[1:]...)
	if len(p.pieces) > 4*maxMessage {
		p.pieces = []byte(rawJSON(p.pieces).end(maxMessage))
	}
	p.text = rawJSON(jsontext.String(p.pieces))
}

// finish notes that the last event has come.
func (p *eventParser) finish() {
	p.activity.Ended, p.activity.Retrying = true, false
	p.tools = nil
}

// usage notes what the session has used. input holds the cached tokens, too.
func (p *eventParser) usage(input, output, read, written int64) {
	p.activity.Usage = Usage{
		Input: max(0, input-read-written), Output: output, CacheRead: read, CacheWrite: written, TokensKnown: true,
	}
}

// tokens returns a number of tokens. It is 0 if it is not a number, or below 0.
func (e event) tokens(path string) int64 { return addTokens(0, e.Get(path)) }

func (p *eventParser) Outcome(exit Exit, now time.Time) Outcome {
	o := p.outcome()
	switch {
	case p.halted:
		o.Class, o.Problem = Interrupted, exit.problem("interrupted by a signal")
	case p.activity.Ended && p.failure == nil:
		o.Class = Done
	case p.failure != nil && (p.activity.Ended || !exit.interrupted()):
		o.Class = cmp.Or(p.failure.class, classOf(p.failure.words, p.failure.status))
		o.Problem = cmp.Or(p.failure.words, noWords)
	default:
		o.Class, o.Problem = p.broken(exit)
	}
	if o.Class == Limit {
		o.Until = clampReset(client.RetryAt(o.Problem, now), now)
	}
	return o
}

// broken judges a session whose last event has not come.
func (p *eventParser) broken(exit Exit) (Class, string) {
	why := "before the last event"
	class, known := p.exits[exit.Code]
	switch {
	case exit.interrupted():
		return Interrupted, exit.problem("")
	case !p.active && exit.Code > 0 && exit.Code != 137:
		if words := p.complaint(exit.Stderr); words != "" {
			if class == "" || class == Interrupted {
				class = Failed
			}
			return class, words
		}
	case known && p.active:
		exit.Stderr = ""
		return class, exit.problem(why)
	}
	exit.Stderr = cmp.Or(p.complaint(exit.Stderr), p.plainLine)
	return Died, exit.problem(why)
}

// complaint returns what an agent says on standard error, on one line, without its usual notices.
func (p *eventParser) complaint(stderr string) string {
	var said []string
	for line := range strings.Lines(stderr) {
		line = lastLine(line)
		if line != "" && !slices.ContainsFunc(p.noise, func(n string) bool { return strings.HasPrefix(line, n) }) {
			said = append(said, line)
		}
	}
	return plain.Line(strings.Join(said, " "), problemChars)
}
