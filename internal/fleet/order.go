// Package fleet works the sessions of a run's lanes on other machines. The run keeps all that counts: the record, the
// list, the merges and the checks. A worker gets a commit and a prompt, runs an agent on it, and sends a commit back.
package fleet

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// schema is the version of orders and reports.
const schema = 2

// order is what a worker shall do.
type order struct {
	Schema  int    `json:"schema"`
	Version string `json:"version"` // of the run's program
	Run     string `json:"run"`     // the run's id
	Loop    string `json:"loop"`
	Feature string `json:"feature"` // "": the loop as a whole
	Agent   string `json:"agent"`   // the name of the agent, if the worker has none of its own
	Model   string `json:"model"`   // that the agent is asked for; "": its own choice
	Effort  string `json:"effort"`
	Prompt  string `json:"prompt"`

	Commit    string   `json:"commit"`    // what the worker begins with
	Bases     []string `json:"bases"`     // bundles that have it together, the first one first
	Folder    string   `json:"folder"`    // of the project in the repository, with slashes; "." for the root
	List      string   `json:"list"`      // path of the list below Folder, with slashes
	Tag       string   `json:"tag"`       // of a list with several, see features.SplitTag; "": none
	Skip      []string `json:"skip"`      // headings of Markdown below which nothing is work
	ListText  string   `json:"listText"`  // name of the list's text, which is a base, too
	Notes     string   `json:"notes"`     // path of the agents' notes below Folder, with slashes; "" for none
	NotesText string   `json:"notesText"` // name of the notes' text, which is a base, too

	Timeout time.Duration `json:"timeout"` // of the session, in nanoseconds
	Idle    time.Duration `json:"idle"`    // 0: the agent may be silent
}

// name matches what becomes a part of a path on a worker's machine.
var name = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`) })

// readOrder reads an order, and refuses one that would write outside of the worker's folder or run without a limit.
func readOrder(data []byte, version string) (o order, err error) {
	if err := json.Unmarshal(data, &o); err != nil || o.Schema != schema {
		return o, fmt.Errorf("the run has the version %q of ralph-runner, and this is %s: use the same one on all machines",
			plain.Line(o.Version, 40), version)
	}
	sense := name().MatchString(o.Run) && name().MatchString(o.Commit) && len(o.Bases) > 0 && o.Timeout > 0 && o.Idle >= 0
	for _, path := range []string{o.List, cmp.Or(o.Folder, "."), cmp.Or(o.Notes, ".")} {
		sense = sense && filepath.IsLocal(filepath.FromSlash(path)) && !worktree.InGit(path)
	}
	if !sense {
		return o, errors.New("the order makes no sense")
	}
	return o, nil
}

// report is what a worker says of a session. Nothing of it is proven.
type report struct {
	Schema   int           `json:"schema"`
	Commit   string        `json:"commit"` // what it made; the commit of the order if nothing changed
	Claims   bool          `json:"claims"` // its agent claims the feature
	Class    agent.Class   `json:"class"`
	Message  string        `json:"message"` // the agent's last one, at most maxText bytes of its end
	Notes    string        `json:"notes"`   // what the agent has added to the notes, at most loopdir.MaxNoted characters
	Problem  string        `json:"problem"`
	ExitCode int           `json:"exitCode"`
	Took     time.Duration `json:"took"`
	Model    string        `json:"model"`
	Denied   int           `json:"denied"`
	Refused  string        `json:"refused"`
	Used     agent.Usage   `json:"used"`
}

// maxText is how many bytes of an agent's last message travel. In JSON each can take six of engine.MaxBody.
const maxText = 64 << 10

// result returns how a session ended as a worker tells it. A worker can say anything, so all is bounded.
func (r report) result() agent.Result {
	e := agent.Result{ExitCode: r.ExitCode, Took: min(max(0, r.Took), maxTook)}
	e.Class = r.Class
	if e.Class == agent.Context { // which would end the run; one worker's word does not
		e.Class = agent.Failed
	}
	e.Message = last(r.Message)
	e.Problem = plain.Line(r.Problem, 300)
	e.Denied, e.Refused = min(max(0, r.Denied), maxDenied), plain.Line(r.Refused, 80)
	e.Activity.Model = plain.Line(r.Model, 80)
	e.Usage = r.Used
	return e
}

// last returns what travels of a message.
func last(message string) string { return message[max(0, len(message)-maxText):] }

const (
	maxTook   = 366 * 24 * time.Hour
	maxDenied = 1_000_000
	maxTokens = 1 << 50
	maxCost   = 1000 // dollars of one session
)

// readReport reads a report, and refuses one that makes no sense.
func readReport(data []byte) (r report, err error) {
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("the worker's report cannot be read: %w", err)
	}
	u := r.Used
	switch {
	case r.Schema != schema:
		return r, errors.New("the worker has another version; use the same one on all machines")
	case r.Class != agent.Done && r.Class != agent.Died && r.Class != agent.TimedOut && r.Class != agent.Failed &&
		r.Class != agent.Turns && r.Class != agent.Budget && r.Class != agent.Context:
		return r, fmt.Errorf("the worker's report has the outcome %q", plain.Line(string(r.Class), 40))
	case min(u.Input, u.Output, u.CacheRead, u.CacheWrite) < 0,
		max(u.Input, u.Output, u.CacheRead, u.CacheWrite) > maxTokens,
		!(u.CostUSD >= 0 && u.CostUSD <= maxCost):
		return r, errors.New("the worker's report has impossible figures")
	}
	return r, nil
}
