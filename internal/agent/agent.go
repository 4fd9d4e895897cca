// Package agent starts coding agents, each for one session, and reads what they print.
package agent

import (
	"slices"
	"time"
)

// Class says how a session ended.
type Class string

// The classes.
const (
	Done        Class = "done"        // the agent ended its turn by itself
	Limit       Class = "limit"       // the provider's limit is used up; Outcome.Until may say until when
	Transient   Class = "transient"   // an error of the provider that may be over soon, such as an overload
	Auth        Class = "auth"        // a wrong key, no login or no credit: only a person can help
	Context     Class = "context"     // the prompt or the conversation is too long for the model
	Budget      Class = "budget"      // the session used up the money that it was given
	Turns       Class = "turns"       // the session used up the turns that it was given
	Failed      Class = "failed"      // the agent reports another error
	Interrupted Class = "interrupted" // somebody else stopped the agent, with a signal
	Died        Class = "died"        // the agent ended without its last event, or with an exit status other than 0
	TimedOut    Class = "timed_out"   // we stopped it: its time was up, or it was silent for too long
	Stopped     Class = "stopped"     // we stopped it: a person or a signal asked for that
	NotStarted  Class = "not_started" // the program could not be started
)

// Counts reports whether a session of the class can count as an iteration.
func (c Class) Counts() bool {
	return !slices.Contains([]Class{Limit, Transient, Interrupted, Auth, NotStarted, Stopped}, c)
}

// Breaks reports whether a session of the class broke off, so that what it said and left is no claim that all is done.
func (c Class) Breaks() bool { return c != Done }

// Usage is what a session used. A session that was killed and most agents tell not all of it.
type Usage struct {
	Input       int64   `json:"inputTokens"` // without cached tokens
	Output      int64   `json:"outputTokens"`
	CacheRead   int64   `json:"cacheReadTokens"`
	CacheWrite  int64   `json:"cacheWriteTokens"`
	CostUSD     float64 `json:"costUsd"`
	TokensKnown bool    `json:"tokensKnown"`
	CostKnown   bool    `json:"costKnown"`           // reported or estimated
	Estimated   bool    `json:"estimated,omitempty"` // from tokens and a price
}

// Tokens returns all tokens: those of the cache cost less, but they are work of the provider, too.
func (u Usage) Tokens() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// atLeast returns the larger one of each figure. What is said later takes nothing back.
func (u Usage) atLeast(said Usage) Usage {
	u.Input, u.Output = max(u.Input, said.Input), max(u.Output, said.Output)
	u.CacheRead, u.CacheWrite = max(u.CacheRead, said.CacheRead), max(u.CacheWrite, said.CacheWrite)
	u.CostUSD = max(u.CostUSD, said.CostUSD)
	return u
}

// Activity is what an agent's lines have told so far.
type Activity struct {
	Session   string // the agent's own session id
	Model     string // the model that answers
	KeySource string // where the agent's key comes from, in its own words; "" if it does not say
	Text      string // the last text of the agent, on one line, cleaned and short
	Tool      string // the tool that runs now, with what it works on, on one line; "": none
	Retrying  bool   // the agent said that it waits before it asks the provider again
	Refused   bool   // the agent said that the provider refuses its key or login
	InVain    int    // how often in a row it asked the provider and got no whole answer, as far as it tells
	Ended     bool   // the last event of the session has come, and nothing since
	Waits     bool   // the agent said that something runs in the background, for whose end it waits
	Usage     Usage  // so far, at least; of most agents known only at the end
}

// Exit is how an agent's process ended.
type Exit struct {
	Code   int    // 128 and a signal's number if that ended it; -1: not known
	Stderr string // the end of its standard error
}

// Outcome is how a session ended, and what it left.
type Outcome struct {
	Class   Class
	Message string    // the agent's final answer; "": there is none
	Problem string    // what went wrong, on one line, cleaned; "" if the class is Done
	Until   time.Time // with Limit: when the limit is reset; zero: nobody said
	Denied  int       // how many uses of tools the agent's permissions refused
	Refused string    // the last tool that they refused, cleaned; "": not known
	Usage   Usage
}

// Parser reads what one session of an agent prints. It is used by one goroutine at a time.
type Parser interface {
	// Line reads the next line of standard output, without its end. If cut is true, the line is longer than MaxLine,
	// and only its beginning is there. The parser does not change the line's bytes, and keeps none of them, since the
	// next line may have the same place.
	Line(line []byte, cut bool)
	// Activity returns what the lines have told so far.
	Activity() Activity
	// Outcome judges the session after its process has ended: by the last event, and only then by the exit status.
	Outcome(exit Exit, now time.Time) Outcome
}

// MaxLine is how many bytes of a line are kept. A line of 3 MB was seen: one call of a tool that writes a file.
const MaxLine = 8 << 20
