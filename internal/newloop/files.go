package newloop

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// loopFile is a file of the loop folder that init writes.
type loopFile struct {
	name  string
	text  string
	stays bool // it is there already and stays
}

// planFiles decides on the files of the loop folder. What exists stays, unless --force.
func (m *Maker) planFiles() error {
	text, err := m.config()
	if err == nil {
		err = checkLimits(text)
	}
	if err != nil {
		return err
	}
	next, _ := m.found.Next()
	header := progress.Header{
		Status: string(decide.InProgress), Iteration: 1, MaxIterations: m.Limits.MaxIterations,
		Feature: plain.Line(next.ID, 80),
	}
	m.files = []loopFile{
		{name: loopdir.ConfigFile, text: string(text)},
		{name: loopdir.ProgressFile, text: string(progress.Edit([]byte("\n# Notes\n"), header))},
		{name: loopdir.PromptFile, text: m.prompt()},
		{name: loopdir.IgnoreFile, text: ignoreText},
	}
	if m.List == "" && !m.sourced {
		m.files = slices.Insert(m.files, 0, loopFile{name: loopdir.ListFile, text: loop.ExampleList})
	}
	for n := range m.files {
		f := &m.files[n]
		// A list or a task is the person's: not even --force writes over it.
		task := f.name == loopdir.PromptFile && m.List == config.ListNone && m.Task.Text == ""
		f.stays = loopdir.Exists(filepath.Join(m.Dir, f.name)) && (!m.Force || task || f.name == loopdir.ListFile)
		if task && !f.stays && m.text != nil {
			m.warnings = append(m.warnings, "of the task in "+f.name+", which was gone, only the first line is known; "+
				"write it again")
		}
		if f.name != loopdir.ConfigFile {
			continue
		}
		if m.keepsLoop {
			f.text = string(m.text)
			err = m.keepConfig()
		} else if gone := m.missingKeys(text); gone != "" {
			m.warnings = append(m.warnings, loopdir.ConfigFile+" has no "+gone+" any more")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// missingKeys names the keys and limits of the existing ralph.json that a new one does not have.
func (m *Maker) missingKeys(text []byte) string {
	old, err := jsontext.Check(m.text)
	if err != nil {
		return "" // nothing of it was in force
	}
	var gone []string
	for _, path := range []string{"@this", "limits"} {
		gjson.GetBytes(old, path).ForEach(func(key, _ gjson.Result) bool {
			if now := gjson.GetBytes(text, path).Map(); !now[key.Str].Exists() {
				gone = append(gone, strconv.Quote(plain.Line(key.Str, 80)))
			}
			return true
		})
	}
	return strings.Join(gone, ", ")
}

// keepConfig reads the ralph.json of the loop that was made before, and refuses flags that contradict it.
func (m *Maker) keepConfig() error {
	c, err := config.Parse(m.text)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Show(filepath.Join(m.Dir, loopdir.ConfigFile)), err)
	}
	m.reading.Skip = c.SkipHeadings
	if m.List != "" && m.List != config.ListNone {
		if err := m.readList(filepath.Join(m.Project, filepath.FromSlash(m.List))); err != nil {
			return err
		}
	}
	var shell []string
	for _, command := range c.Notifiers {
		if command.Event == config.OnComplete {
			shell = append(shell, command.String())
		}
	}
	var checks []string
	for _, check := range c.Checks {
		checks = append(checks, check.String())
	}
	differs := m.otherLimits(c.Limits) ||
		m.List != "" && m.List != c.List || m.Task.Text != "" && m.Task.Line != c.Task ||
		len(m.OnComplete) > 0 && !slices.Equal(shell, m.OnComplete) ||
		len(m.Work) > 0 && !slices.Equal(c.WorkTexts(), m.Work)
	trust := m.Env.Call("trust", m.Name)
	if differs && !loopdir.Exists(filepath.Join(m.Dir, loopdir.ConfigFile)) {
		return fmt.Errorf("the loop %q exists, and its ralph.json, which is gone, said something else; '%s' puts that "+
			"back, --force starts anew", m.Name, trust)
	}
	if differs {
		return fmt.Errorf("the loop %q exists, and its ralph.json says something else; "+
			"edit that and run '%s', or start anew with --force", m.Name, trust)
	}
	m.Typed = m.Checks
	m.OnComplete, m.Checks = shell, checks
	m.Work = c.WorkTexts()
	m.Limits.MaxIterations = cmp.Or(c.Limits.MaxIterations, decide.DefaultIterations)
	return nil
}

// maxProblems bounds how much that is wrong with a list is shown.
const maxProblems = 5

// checkLimits refuses limits that ralph.json could not have.
func checkLimits(text []byte) error {
	_, err := config.Parse(text)
	if wrong := (*jsontext.Error)(nil); errors.As(err, &wrong) {
		return cli.Usagef("%s", wrong.Problem)
	}
	return err
}

// checkList says what is wrong with the list, and refuses one in which nothing can be worked.
// It is as 'list check' has it.
func (m *Maker) checkList() error {
	if m.List == config.ListNone {
		return nil
	}
	path := filepath.Join(m.Dir, loopdir.ListFile)
	if m.List != "" {
		path = filepath.Join(m.Project, filepath.FromSlash(m.List))
	}
	data, how, err := verb.ReadList(path)
	if err != nil {
		return nil // an example, which init is to write
	}
	how.Skip, how.Now = m.reading.Skip, m.reading.Now
	list, problems, remarks := how.Check(data)
	shown, _ := features.SplitTag(path)
	shown = m.Show(shown)
	_, open := list.Next()
	done := list.Passed() == len(list.Items)
	switch {
	case done && m.Claimed:
		return nil
	case open || m.keepsLoop:
	case done && len(m.Checks) > 0:
		fmt.Fprintf(m.Out, "every feature of %s passes already: the first stop runs the checks\n", shown)
	case done:
		return fmt.Errorf("every feature of %s passes already, so there is nothing to do; add what there is more to do, "+
			"or open a feature again, and run init again", shown)
	default:
		return fmt.Errorf("nothing in %s can be worked on: %s; fix that, and run init again (ralph-stop-hook list check "+
			"%s says where)", shown, plain.Line(list.Stuck(), 500), plain.Arg(shown))
	}
	m.warnOfOthers()
	tell := func(level string, found []error) {
		for _, err := range found[:min(len(found), maxProblems)] {
			fmt.Fprintf(m.Out, "%s: %s: %s\n", level, shown, plain.Line(err.Error(), 500))
		}
		if more := len(found) - maxProblems; more > 0 {
			fmt.Fprintf(m.Out, "%s: %d more; ralph-stop-hook list check %s shows them\n", level, more, plain.Arg(shown))
		}
	}
	tell("warning", problems)
	tell("remark", remarks)
	return nil
}

// noList reports whether the loop has no list: the person says its task, or it is there already.
func (m *Maker) noList() bool {
	if m.Task.Line == "" && m.List == "" && m.loopConfig.NoList() {
		m.Task.Line = cmp.Or(m.loopConfig.Task, m.Name)
	}
	return m.Task.Line != ""
}

// prompt is the text that starts the session.
func (m *Maker) prompt() string {
	folder := filepath.ToSlash(filepath.Join(loopdir.Below, m.Name))
	if m.List == config.ListNone {
		return say.TaskPrompt(folder, cmp.Or(m.Task.Text, m.Task.Line))
	}
	next, _ := m.found.Next()
	list := loop.NameList(cmp.Or(m.List, folder+"/"+loopdir.ListFile))
	return say.ListPrompt(folder, list, say.Claim(m.found.List, next, list))
}
