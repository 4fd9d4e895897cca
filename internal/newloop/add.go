package newloop

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// AddChecks adds those of m.Checks that a loop does not have to its ralph.json, and trusts these commands alone, on
// what the person has trusted before: what goes with them is suggested by the trusted files, and not by what an agent
// has made of them. The first checks of a loop make its contract, as those of init do.
func (m *Maker) AddChecks(l *loop.Loop) error {
	p, err := l.Look()
	if err != nil {
		return err
	}
	has := func(text string) bool {
		return slices.ContainsFunc(p.Config.Checks, func(c config.Check) bool {
			return c.String() == text && !c.Untrusted
		})
	}
	isNew := func(text string) bool { return !has(text) }
	again := slices.DeleteFunc(slices.Clone(m.Checks), isNew)
	m.Checks = slices.DeleteFunc(slices.Clone(m.Checks), has)
	m.Project = l.At.Project
	m.isRenewed = m.lookAtScripts(p, again)
	if m.isRenewed {
		m.Checks = append(m.Checks, again...)
	}
	if len(m.Checks) == 0 {
		m.tellWarnings()
		return nil
	}
	err = m.PersonFor(l)
	if err != nil {
		return err
	}
	switch {
	case !loopdir.Protects(m.Env.StateDir, l.At.Project):
		return fmt.Errorf("%w, or leave out --check", loopdir.ErrUnprotected)
	case p.Snapshot.ConfigErr != nil:
		return p.Snapshot.ConfigErr
	}
	m.Project, m.Dir, m.Name, m.found = l.At.Project, l.At.Dir, l.At.Name, p.Snapshot.List
	if p.Snapshot.NoList {
		m.List = config.ListNone
	}
	if p.HasCopy() && !m.isRenewed {
		m.trustedFiles, err = p.TrustedFiles(context.Background())
		if err != nil {
			return err
		}
	}
	err = m.askForTests()
	if err != nil {
		return err
	}
	var before *config.Trust
	if p.Config.Trusted {
		before = &p.Config.Trust
	}
	err = l.Store.Locked(loop.LockWait, func() error { return m.addLocked(l) })
	if err != nil {
		return err
	}
	m.warnOfMissing(m.Checks)
	m.tellChecks()
	if p.Config.ListSHA256 == "" && len(m.found.Items) > 0 {
		fmt.Fprintf(m.Out, "  the list counts as it is now: %s\n", plain.Count(len(m.found.Items), "feature"))
	}
	m.tellWarnings()
	err = verb.RewritePrompt(l, before)
	if err != nil {
		fmt.Fprintf(m.Out, "  warning: %s does not name what is protected now: %v\n", loopdir.PromptFile, err)
	}
	if verb.DryRun(m.Out, l) {
		fmt.Fprintf(m.Out, "  to have them run only when every feature is claimed: give them \"when\": \"end\" in %s, and "+
			"run: %s\n", loopdir.ConfigFile, l.Call("trust"))
	}
	state, err := l.Store.State()
	if err != nil || state.Status != decide.Complete {
		return err
	}
	return m.Continue(m.Out, l, verb.More{})
}

// lookAtScripts looks at the scripts of checks that a person has typed before. It reports whether one exists now that
// did not when they were trusted: then the person has written it, unless a session may have done so.
func (m *Maker) lookAtScripts(p *loop.Picture, checks []string) (isRenewed bool) {
	if len(checks) == 0 || !p.HasCopy() {
		return false
	}
	scripts := m.suggestFor(m.top(), checks).Scripts
	for _, name := range scripts {
		isThere := loopdir.Exists(filepath.Join(m.Project, filepath.FromSlash(name)))
		switch {
		case isThere && p.TrustsFile(name):
		case isThere && p.IsUntouched(context.Background(), scripts):
			isRenewed = true
		case isThere:
			m.warnings = append(m.warnings, fmt.Sprintf("%s did not exist when you trusted its check, and a session may "+
				"have written it: look at it, add it to \"protect\" in %s, and run: %s", plain.Line(name, 200),
				loopdir.ConfigFile, p.Loop.Call("trust")))
		}
	}
	if !isRenewed { // else AddChecks does
		m.warnOfMissing(checks)
	}
	return isRenewed
}

// warnOfMissing names the scripts of checks that do not exist yet.
func (m *Maker) warnOfMissing(checks []string) {
	for _, name := range m.suggestFor(m.top(), checks).Scripts {
		if !loopdir.Exists(filepath.Join(m.Project, filepath.FromSlash(name))) {
			m.warnings = append(m.warnings, plain.Line(name, 200)+" does not exist yet, so the agent can write it; to have "+
				"your own: create it, then type the same line again")
		}
	}
}

// addLocked adds the checks to the ralph.json that is trusted, and to the one of the loop's folder, which may say more.
func (m *Maker) addLocked(l *loop.Loop) error {
	record, err := l.Store.Trust()
	if err != nil {
		return err
	}
	text, err := l.Store.Config()
	if err != nil {
		return err
	}
	if record == nil && text != nil || record != nil && record.Revoked {
		return fmt.Errorf("you have not trusted the %s of this loop; look at it first: %s", loopdir.ConfigFile,
			l.Call("trust"))
	}
	trusted := []byte("{}\n")
	if record != nil {
		trusted = []byte(record.Text)
	}
	if text == nil {
		text = trusted
	}
	trusted, err = m.withChecks(trusted)
	if err != nil {
		return err
	}
	text, err = m.withChecks(text)
	if err != nil {
		return err
	}
	now, err := m.trustChecks(l, record, trusted)
	if err != nil {
		return err
	}
	err = l.SetTrust(now)
	if err != nil {
		return err
	}
	m.lookAtBaseline(l, now)
	return l.Store.WriteFile(loopdir.ConfigFile, text)
}

// trustChecks returns the record of a ralph.json that has further checks. A loop that has no baseline gets it now.
func (m *Maker) trustChecks(l *loop.Loop, record *config.Trust, text []byte) (config.Trust, error) {
	if record == nil || record.Baseline == "" || m.isRenewed {
		return l.NewTrust(text, m.found, record != nil && record.ListChecks)
	}
	return l.WithConfig(*record, text, m.found)
}

// withChecks returns the text of a ralph.json with the checks, and with what is suggested for them.
func (m *Maker) withChecks(text []byte) ([]byte, error) {
	c, err := config.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", loopdir.ConfigFile, err)
	}
	s := m.suggestion()
	var values []member
	for _, check := range m.checks() {
		has := func(c config.Check) bool { return c.String() == check.Command }
		if !slices.ContainsFunc(c.Checks, has) {
			values = append(values, member{"checks", check})
		}
	}
	for _, pattern := range slices.Concat(s.Tests, s.Protect) {
		values = append(values, member{"protect", pattern})
	}
	for _, pattern := range s.Outputs {
		values = append(values, member{"outputs", pattern})
	}
	for _, one := range s.Prepare {
		values = append(values, member{"prepare", prepareJSON(one)})
	}
	for _, one := range values {
		text, err = one.addTo(text)
		if err != nil {
			return nil, err
		}
	}
	if s.Git && !gjson.GetBytes(text, "git").Exists() {
		text = addKey(text, "git", "true")
	}
	_, err = config.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("with the check, %s would be wrong: %w", loopdir.ConfigFile, err)
	}
	return text, nil
}

// member is an element of the array that a key has.
type member struct {
	key   string
	value any
}

// addTo adds it to the array, unless it is there.
func (m member) addTo(text []byte) ([]byte, error) {
	raw, err := jsontext.Line(m.value)
	if err != nil {
		return nil, err
	}
	line := string(bytes.TrimSpace(raw))
	array := gjson.GetBytes(text, m.key)
	if !array.Exists() {
		return addKey(text, m.key, "["+line+"]"), nil
	}
	for _, one := range array.Array() {
		if one.Get("@ugly").Raw == line {
			return text, nil
		}
	}
	return jsontext.Insert(text, array, "", line), nil
}

func addKey(text []byte, key, value string) []byte {
	return jsontext.Insert(text, gjson.ParseBytes(bytes.TrimRight(text, " \t\r\n")), key, value)
}

func (m *Maker) tellWarnings() {
	for _, line := range m.warnings {
		fmt.Fprintf(m.Out, "  warning: %s\n", line)
	}
}

// tellChecks says which checks there are, and what ralph.json says for them.
func (m *Maker) tellChecks() {
	for i, check := range m.Checks {
		of := ""
		if perFeature(check) && m.List != config.ListNone {
			of = " for each feature"
		}
		if !m.keepsLoop && m.runsInProject(i) {
			of += ", in the project"
		}
		fmt.Fprintf(m.Out, "  check%s: %s\n", of, plain.Line(check, 300))
	}
	if m.keepsLoop {
		return
	}
	for _, line := range m.suggestion().Lines() {
		fmt.Fprintf(m.Out, "  %s\n", plain.Line(line, 300))
	}
}
