package verb

import (
	"fmt"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// showf shows all of a text. Nobody can trust text that is cut off or invisible.
func (t *truster) showf(format, text string) { fmt.Fprintf(t.w, format+"\n", plain.Visible(text)) }

// shown returns all of a command, or of a condition, as one line.
func shown(c config.Command, other string) string {
	if c.Shell != "" {
		return plain.Shell(c.Shell)
	}
	return plain.Visible(other)
}

// atMost returns how long a command may run, if that is not the default.
func atMost(c config.Command, usual time.Duration) string {
	if c.Timeout == usual {
		return ""
	}
	return fmt.Sprintf(", for %v", c.Timeout)
}

// kind names what a check is, and where it looks if that is not the copy.
func kind(c config.Check) string {
	name := "condition"
	if c.Runs() {
		name = "check"
	}
	if c.In == config.InProject {
		name += " in the project, where the agent can edit what it uses"
	}
	return name
}

// show shows what a person is about to trust, and what has changed since the last time.
func (t *truster) show(record config.Trust, before *config.Trust, list decide.List) {
	if before == nil {
		before = &config.Trust{}
	} else if changes := Diff(before.Text, record.Text); len(changes) > 0 {
		fmt.Fprintf(t.w, "%s changed after it was trusted:\n", loopdir.ConfigFile)
		for _, line := range changes {
			t.showf("  %s", strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "  "))
		}
	}
	own := config.ListChecks(list.Items...)
	t.showCommands()
	t.showOwn(own)
	if len(t.config.Commands())+len(own) > 0 {
		if record.Baseline == "" {
			t.showf("commands run in %s", t.l.At.Project)
		}
		path, _ := proc.PathOutside(record.SearchPath, t.l.At.Project)
		t.showf("programs are looked up in %s", path)
	}
	t.showList(before, list)
	t.showCopy(record, before)
	t.warn(record)
}

// maxShown is how many changes of the list are shown.
const maxShown = 20

// showList shows what differs in the list from the one that was trusted before, but for what is done.
func (t *truster) showList(before *config.Trust, list decide.List) {
	if before.ListSHA256 == "" || t.config.Source.IsSet() || list.Err != nil {
		return
	}
	was, err := list.Reading.Parse([]byte(before.ListText))
	if err != nil {
		t.showf("warning: what has changed in the list cannot be told: %s", err.Error())
		return
	}
	is := was.TakeFlags(list.List)
	var lines []string
	for _, change := range is.Changes {
		lines = append(lines, plain.Line(change.ID, 80)+" was "+change.How)
		for _, line := range Diff(strings.Join(change.Old, "\n")+"\n", strings.Join(change.New, "\n")+"\n") {
			lines = append(lines, "  "+strings.TrimRight(line, "\n"))
		}
	}
	for _, item := range is.Items {
		if item.IsAdded {
			lines = append(lines, plain.Line(item.ID, 80)+" was added: "+item.Title())
		}
	}
	if len(lines) == 0 {
		return
	}
	t.showf("%s changed after it was trusted:", plain.Path(t.l.At.Project, t.path))
	for _, line := range lines[:min(len(lines), maxShown)] {
		t.showf("  %s", line)
	}
	if more := len(lines) - maxShown; more > 0 {
		t.showf("  and %s", plain.Count(more, "more line"))
	}
}

// showCopy shows what the copy of the checks has, and what is new in it.
func (t *truster) showCopy(record config.Trust, before *config.Trust) {
	if record.Baseline == "" {
		return
	}
	t.showf("checks run in a clean copy of %s as it is now, with the agent's later changes", t.l.At.Project)
	if work := t.config.WorkTexts(); len(work) > 0 {
		t.showf("of these only those of %s count", strings.Join(work, ", "))
	}
	var protected []string
	for _, pattern := range t.config.Protect {
		protected = append(protected, pattern.Text)
	}
	if len(protected) > 0 {
		t.showf("changes to these do not count: %s", strings.Join(protected, ", "))
	}
	for _, text := range t.l.IdleProtect(t.config, record) {
		t.showf("warning: "+Idle, text)
	}
	for _, one := range t.config.Prepare {
		t.showf("it is prepared by"+atMost(one.Command, config.DefaultCheckTimeout)+": %s", shown(one.Command, one.String()))
	}
	for _, change := range t.l.Omissions() {
		t.showf("warning: not in the copy: %s", change.Path+": "+change.Why)
	}
	if before.Baseline == "" {
		return
	}
	changed, err := t.l.BaselineChanges(*before, record)
	if err != nil {
		t.showf("warning: what has changed since cannot be told: %s", err.Error())
	}
	for _, name := range changed[:min(len(changed), maxShown)] {
		t.showf("other than before: %s", name)
	}
	if more := len(changed) - maxShown; more > 0 {
		t.showf("other than before: %s", plain.Count(more, "more file"))
	}
}

// Diff returns the differences between was and now: deleted lines after "- ", new ones after "+ ".
func Diff(was, now string) (lines []string) {
	// The first three lines of a unified diff name the files.
	for n, line := range strings.SplitAfter(string(diff.Diff("was", []byte(was), "now", []byte(now))), "\n") {
		if n > 2 && line != "" && (line[0] == '-' || line[0] == '+') {
			lines = append(lines, line[:1]+" "+line[1:])
		}
	}
	return lines
}

func (t *truster) showCommands() {
	if t.config.Confine {
		t.showf("confined: checks, evaluators and the source write only to %s", say.ConfinedTo(t.config))
	}
	for _, command := range t.config.Notifiers {
		t.showf(strings.ReplaceAll(command.Event, "-", "_")+" runs"+atMost(command, config.DefaultTimeout)+": %s",
			shown(command, command.String()))
	}
	for _, a := range t.config.Agents {
		words := append(append([]string{}, a.Argv...), a.Args...)
		if a.Extends != "" {
			words = append([]string{a.Extends}, words...)
		}
		t.showf("agent "+a.Name+": %s", plain.Line(plain.CommandLine(words), 300))
		for _, check := range a.Checks {
			t.showf("agent "+a.Name+" is checked by: %s", plain.Line(check, 300))
		}
	}
	for _, command := range t.config.Source.Commands() {
		t.showf("source"+atMost(command, config.DefaultTimeout)+": %s", shown(command, command.String()))
	}
	for _, check := range t.config.Checks {
		t.showf(kind(check)+", when "+check.When+atMost(check.Command, config.DefaultCheckTimeout)+": %s",
			shown(check.Command, check.String()))
	}
	if names := t.config.Env; len(names) > 0 {
		t.showf("checks get the session's value of: %s", strings.Join(names, ", "))
	}
	for _, e := range t.config.Evaluators {
		if e.Preset == "" {
			t.showf("evaluator"+atMost(e.Command, config.DefaultCheckTimeout)+": %s", shown(e.Command, e.String()))
		}
	}
}

// showOwn shows what the features of a list bring, each text once.
func (t *truster) showOwn(own []config.Check) {
	var order []string
	times := map[string]int{}
	for _, c := range own {
		text := kind(c) + " of the list, when claim: " + shown(c.Command, c.Name)
		if times[text]++; times[text] == 1 {
			order = append(order, text)
		}
	}
	for _, text := range order {
		of := ""
		if times[text] > 1 {
			of = fmt.Sprintf(" (of %d features)", times[text])
		}
		t.showf("%s"+of, text)
	}
}

// warn warns of what may surprise a person.
func (t *truster) warn(record config.Trust) {
	c := t.config
	for _, program := range t.l.MissingPrograms(c) {
		t.showf("warning: %s", NotYet(t.l, program))
	}
	if inside := t.l.PathInside(record.SearchPath); inside != "" && len(c.Commands()) > 0 {
		t.showf("warning: %s", inside)
	}
}

// Idle is what is said of an entry of "protect" that names nothing.
const Idle = `"%s" of "protect" names nothing that the copy has, so it protects nothing`

// NotYet says that a program does not exist yet, and what a person is to do.
func NotYet(l *loop.Loop, program string) string {
	return fmt.Sprintf("%s does not exist yet: write it and run '%s'", plain.Line(program, 300), l.Call("trust"))
}
