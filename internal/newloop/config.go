package newloop

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/suggest"
)

// ignoreText keeps what the program writes for itself out of git.
const ignoreText = `# what the hook writes for itself; over progress.txt git would refuse to switch branches
progress.txt
hook.log*
checks.jsonl*
checks.log*
stops.jsonl*
*.bak
.*.txt[0-9]*
`

// perFeature tells whether the shell command of a check is about one feature: it names the variable that has the
// feature's id. In a check of the whole loop that is empty.
func perFeature(check string) bool { return strings.Contains(check, "RALPH_FEATURE") }

type checkJSON struct {
	Command string `json:"command"`
	When    string `json:"when,omitempty"`
	In      string `json:"in,omitempty"`
}

type prepareJSON struct {
	Command     string   `json:"command"`
	WhenChanged []string `json:"when_changed,omitempty"`
}

// config returns the text of ralph.json.
func (m *Maker) config() ([]byte, error) {
	s := m.suggestion()
	var prepare []prepareJSON
	for _, one := range s.Prepare {
		prepare = append(prepare, prepareJSON(one))
	}
	return jsontext.Indent(struct {
		Task       string         `json:"task"`
		List       string         `json:"list,omitempty"`
		Bind       string         `json:"bind"`
		Limits     map[string]any `json:"limits"`
		Checks     []checkJSON    `json:"checks,omitempty"`
		Work       []string       `json:"work,omitempty"`
		Protect    []string       `json:"protect,omitempty"`
		Outputs    []string       `json:"outputs,omitempty"`
		Prepare    []prepareJSON  `json:"prepare,omitempty"`
		Git        bool           `json:"git,omitempty"`
		OnComplete []string       `json:"on_complete,omitempty"`
	}{
		cmp.Or(m.Task.Line, m.Name), m.List, decide.BindPrompt, m.limitsJSON(), m.checks(), m.Work,
		slices.Concat(s.Tests, s.Protect), s.Outputs, prepare, s.Git, m.OnComplete,
	})
}

// checks returns the checks as ralph.json has them.
func (m *Maker) checks() (all []checkJSON) {
	for i, command := range m.Checks {
		check := checkJSON{Command: command}
		if m.runsInProject(i) {
			check.In = config.InProject
		}
		if m.isSlow && !perFeature(command) {
			check.When = decide.WhenEnd
		}
		all = append(all, check)
	}
	return all
}

// runsInProject reports whether a check has to run in the project: it runs what has the project's folders, or names the
// project by its whole path.
func (m *Maker) runsInProject(i int) bool {
	return slices.Contains(m.suggestion().InProject, i) || loop.NamesPath(m.Checks[i], m.Project)
}

// suggestion returns what to write into a new ralph.json for the checks, of the list, too.
func (m *Maker) suggestion() suggest.Suggestion {
	checks := slices.Clone(m.Checks)
	for _, check := range config.ListChecks(m.found.Items...) {
		if check.Runs() && m.trustedFiles == "" {
			checks = append(checks, check.Command.String())
		}
	}
	if m.suggested != nil || len(checks) == 0 || m.Project == "" {
		return *cmp.Or(m.suggested, &suggest.Suggestion{})
	}
	s := m.suggestFor(cmp.Or(m.trustedFiles, m.top()), checks)
	s.Protect = slices.DeleteFunc(s.Protect, func(name string) bool { return slices.Contains(m.Work, name) })
	m.suggested = &s
	return s
}

// top returns the folder of which a copy is made.
func (m *Maker) top() string { return cmp.Or(loopdir.RepoRoot(m.Project), m.Project) }

// suggestFor returns what to write for checks into the ralph.json of a project whose files are in a folder.
func (m *Maker) suggestFor(files string, checks []string) suggest.Suggestion {
	top := m.top()
	dir, err := filepath.Rel(top, m.Project)
	if err != nil {
		return suggest.Suggestion{}
	}
	search, _ := proc.PathOutside(m.Env.Get("PATH"), top) // as checks get it
	return suggest.For(files, filepath.ToSlash(dir), checks, suggest.Sites(search, m.Env.Home)...)
}

// askForTests asks a person at a terminal which files are the tests. An agent may add some, and change none.
func (m *Maker) askForTests() error {
	s := m.suggestion()
	if m.keepsLoop || len(s.Tests) == 0 || !cli.CanAsk() {
		return nil
	}
	answer := cli.Ask(m.Out, fmt.Sprintf("Which files are your tests? The agent may add tests, but not change these; "+
		"say none if there are none [%s]", suggest.InWords(s.Tests)))
	word := strings.ToLower(answer)
	if slices.Contains([]string{"", "y", "yes"}, word) {
		return nil
	}
	m.suggested.Tests = nil
	if slices.Contains([]string{"n", "no", "none"}, word) {
		return nil
	}
	for pattern := range strings.FieldsSeq(answer) {
		pattern = strings.TrimSuffix(pattern, ",")
		_, err := config.ParsePattern(pattern)
		if err != nil {
			return err
		}
		m.suggested.Tests = append(m.suggested.Tests, pattern)
	}
	return nil
}
