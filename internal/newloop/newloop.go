// Package newloop makes loops: it finds the list, refuses what could not work, and writes the loop's files. What a
// person asked for is trusted.
package newloop

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/suggest"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// Maker makes one loop. Settle and Plan refuse everything that can be refused; then Write writes.
type Maker struct {
	verb.Verbs
	Name       string
	List       string // the path of the list, as a person names it; config.ListNone: no list; "": look for one
	Example    bool   // write an example, if there is no list
	Task       verb.Task
	Limits     decide.Limits
	OnComplete []string
	Checks     []string // shell commands; see perFeature
	Work       []string // patterns
	Force      bool     // start the loop anew
	Claimed    bool     // every feature may pass already, since the loop begins with a review

	Fits    func() error           // what else refuses the loop, when its names are known
	HasFlag func(flag string) bool // whether the person gave a flag
	ByList  string                 // the command line that takes the path of a list behind it
	Out     io.Writer

	Project    string        // absolute
	Dir        string        // of the loop
	LastStatus decide.Status // how an earlier loop of this name has ended

	Typed []string // the checks that the person gave for a loop that was made before; for AddChecks

	keepsLoop    bool             // a loop was made before, and init leaves it as it is
	text         []byte           // the ralph.json of that loop
	loopConfig   config.Config    // what it says
	reading      features.Reading // how the list is read
	found        decide.List
	unusable     []string // why files that could be the list are not
	sourced      bool     // a command prints the list
	isRenewed    bool     // checks that are typed again have scripts by now that they lacked
	isSlow       bool     // the checks take too long for each claim
	files        []loopFile
	trustedFiles string              // a folder with the trusted files, for a loop that has a baseline; "": the project
	suggested    *suggest.Suggestion // what ralph.json gets for the checks; nil: nobody has looked yet
	counts       string              // what the agent is told of the changes that count
	warnings     []string            // what may surprise a person, and what the loop had and has no more
}

// New returns a maker for the loop of a list.
func New(v verb.Verbs, byList string, out io.Writer) *Maker {
	return &Maker{
		Verbs: v, ByList: byList, Out: out, Fits: func() error { return nil }, HasFlag: func(string) bool { return false },
		Limits: decide.Limits{MaxIterations: decide.DefaultIterations},
	}
}

// Make makes the loop.
func (m *Maker) Make() error {
	for _, step := range []func() error{m.Settle, m.Plan, m.Fits, m.Write} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Settle decides on the names, and reads the list.
func (m *Maker) Settle() (err error) {
	m.Project, err = m.projectFolder()
	if err != nil {
		return err
	}
	if m.Name == "" {
		m.Name = defaultName(m.listFolder())
	}
	if err := loopdir.CheckName(m.Name); err != nil {
		return cli.Usagef("%w; say another one: ralph-stop-hook init NAME", err)
	}
	if m.Limits.MaxIterations < 1 || m.Limits.MaxIterations > decide.MaxCount {
		return verb.RefuseIterations()
	}
	for flag, commands := range map[string][]string{"--on-complete": m.OnComplete, "--check": m.Checks} {
		if slices.ContainsFunc(commands, func(c string) bool { return strings.TrimSpace(c) == "" }) {
			return cli.Usagef("%s is empty", flag)
		}
	}
	if m.Force || len(m.OnComplete)+len(m.Checks) > 0 {
		if err := m.PersonOnly(); err != nil {
			return err
		}
	}
	m.Dir = filepath.Join(m.Project, loopdir.Below, m.Name)
	if err := loopdir.CanFind(m.Project); err != nil {
		return err
	}
	if err := m.takeUp(); err != nil {
		return err
	}
	if err := m.findList(); err != nil {
		return err
	}
	if open := len(m.found.Items) - m.found.Passed(); !m.HasFlag("max-iterations") {
		m.Limits.MaxIterations = max(m.Limits.MaxIterations, perFeatureLimit*open)
	}
	return nil
}

// perFeatureLimit is how many iterations a loop may have for each open feature, unless a person gives a limit.
const perFeatureLimit = 3

// takeUp reads the ralph.json of a loop that was made before. If the file is gone, it is the one that was trusted: no
// check may go with a file that somebody cleaned away.
func (m *Maker) takeUp() (err error) {
	path := filepath.Join(m.Dir, loopdir.ConfigFile)
	m.text, err = loopdir.ReadAny(path, config.MaxBytes)
	if loopdir.Absent(err) && !loopdir.Exists(path) {
		m.text, err = m.trustedText()
	}
	if err != nil && !m.Force {
		return err
	}
	m.keepsLoop = m.text != nil && !m.Force
	if m.text == nil && !m.Force {
		for _, l := range m.Env.Where().WithoutFolder() {
			if loopdir.SameFile(l.Project, m.Project) {
				return l.Check()
			}
		}
		return nil
	}
	m.loopConfig, _ = config.Parse(m.text) // planFiles says what is wrong with it
	return nil
}

// trustedText returns the ralph.json that was trusted for the loop, nil: there is none.
func (m *Maker) trustedText() ([]byte, error) {
	project, err := filepath.EvalSymlinks(m.Project)
	if err != nil {
		return nil, err
	}
	l, err := loop.OpenRecorded(m.Env, filepath.Join(project, loopdir.Below, m.Name))
	if err != nil {
		return nil, nil // Write says what is wrong with it
	}
	defer l.Close()
	record, err := l.Store.Trust()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is gone, and %w; --force starts the loop from scratch", loopdir.ConfigFile, err)
	case record == nil, record.Text == "{}":
		return nil, nil
	}
	return []byte(record.Text), nil
}

func defaultName(path string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, filepath.Base(path))
	return cmp.Or(strings.Trim(name, "-"), "loop")
}

// Plan decides on the files. What exists stays, unless the loop starts anew.
func (m *Maker) Plan() error {
	for _, step := range []func() error{m.askForTests, m.planFiles, m.checkList, m.checkState, m.checkTrust} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// checkState refuses a loop whose record could not be written, and one with commands that an agent
// could change.
func (m *Maker) checkState() error {
	if m.Env.StateErr != nil {
		return m.Env.StateErr
	}
	if !loopdir.CanKeep(m.Env.StateDir) {
		return fmt.Errorf("the state folder %s cannot be written, so no record of the loop can be kept; "+
			"set RALPH_STATE_DIR to a folder of yours", m.Env.StateDir)
	}
	if len(m.OnComplete)+len(m.Checks) > 0 && !loopdir.Protects(m.Env.StateDir, m.Project) {
		return fmt.Errorf("%w, or leave out --on-complete and --check", loopdir.ErrUnprotected)
	}
	return nil
}

// checkTrust refuses a ralph.json that could not be trusted. Write finds out anew what is to be trusted, since the hook
// is in the settings by then.
func (m *Maker) checkTrust() error {
	if m.keepsLoop {
		return nil
	}
	text, err := m.config()
	if err != nil {
		return err
	}
	l, err := loop.OpenRecorded(m.Env, m.Dir)
	if err != nil {
		return err
	}
	defer l.Close()
	return l.CheckTrust(text, m.found)
}

// ShowPlan shows what Write would do.
func (m *Maker) ShowPlan() {
	for _, f := range m.files {
		verb := "write"
		if f.stays {
			verb = "keep"
		}
		fmt.Fprintf(m.Out, "  would %-8s%s\n", verb, m.Show(filepath.Join(m.Dir, f.name)))
	}
}

// Show shortens a path below the project.
func (m *Maker) Show(path string) string { return plain.Path(m.Project, path) }

// Tell says what a person should know of the loop before it begins.
func (m *Maker) Tell() {
	if !m.keepsLoop {
		m.warnOfMissing(m.Checks)
	}
	m.tellChecks()
	if len(m.Work) > 0 {
		fmt.Fprintf(m.Out, "  only %s is the agent's work\n", plain.Line(strings.Join(m.Work, ", "), 300))
	}
	for _, command := range m.OnComplete {
		fmt.Fprintf(m.Out, "  at the end: %s\n", plain.Line(command, 300))
	}
	m.tellWarnings()
	if checks := config.ListChecks(m.found.Items...); len(checks) > 0 && !cli.CanAsk() {
		fmt.Fprintf(m.Out, "\nThe list brings %s of its own. To look at them and let them run:\n"+
			"  ralph-stop-hook trust %s\nUntil they have passed, the loop does not end COMPLETE.\n",
			plain.Count(len(checks), "check"), plain.Arg(m.Name))
	}
	switch {
	case m.LastStatus != "":
	case m.files[0].name == loopdir.ListFile && !m.files[0].stays:
		fmt.Fprintf(m.Out, "\nThe list is an example; write yours into %s, and then run: ralph-stop-hook trust %s\n",
			m.Show(filepath.Join(m.Dir, loopdir.ListFile)), plain.Arg(m.Name))
	case len(m.Checks) > 0 || m.Claimed:
	case m.List == config.ListNone:
		fmt.Fprintf(m.Out, "\nWithout a --check, the agent's word alone completes the loop.\n")
	case m.found.Passed() == len(m.found.Items):
		fmt.Fprintf(m.Out, "\nEvery feature of the list passes already, so the loop will end at its first stop.\n")
	}
}
