package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

func (v verbs) doctor() *cli.Command {
	var fix, asJSON bool
	cmd := &cli.Command{
		Name:  "doctor",
		Args:  "[NAME]",
		Short: "Find what keeps the hook or a loop from working",
		Long:  doctorHelp,
		Run: func(w io.Writer, args []string) error {
			l, err := v.Find(args)
			if l == nil && len(args) > 0 {
				return err
			}
			if errors.Is(err, verb.ErrNoLoop) {
				err = nil
			}
			return v.diagnose(w, l, err, fix, asJSON)
		},
	}
	cmd.Flags.BoolVar(&fix, "fix", false, "fix what is safe to fix")
	cmd.Flags.BoolVar(&asJSON, "json", false, "print JSON: an array of {check, level, text, fix}")
	return cmd
}

const doctorHelp = `Check the installation and the loop. The exit status is 1 if there is an error.

--fix changes only this: it corrects the modes of our folders and our entry in the
settings, removes leftover temporary files, and completes a commit and notices that were
cut off.`

type finding struct {
	Check string `json:"check"`
	Level string `json:"level"` // ok, note, warning or error
	Text  string `json:"text"`
	Fix   string `json:"fix"` // what a person does about it

	mend func() error // what --fix does about it; nil: nothing
}

func (in *inspection) report(level, fix, format string, args []any) *finding {
	f := &finding{
		Check: in.check, Level: level, Fix: plain.Line(fix, 1000), Text: plain.Line(fmt.Sprintf(format, args...), 1000),
	}
	in.found = append(in.found, f)
	return f
}

func (in *inspection) good(format string, args ...any) { in.report("ok", "", format, args) }

func (in *inspection) note(fix, format string, args ...any) *finding {
	return in.report("note", fix, format, args)
}

func (in *inspection) warning(fix, format string, args ...any) *finding {
	return in.report("warning", fix, format, args)
}

func (in *inspection) failure(fix, format string, args ...any) *finding {
	return in.report("error", fix, format, args)
}

// fine says that all is good, unless the probe has found something.
func (in *inspection) fine(format string, args ...any) {
	if len(in.found) == in.before {
		in.good(format, args...)
	}
}

// probe looks at one thing; a new one is a row below.
type probe struct {
	name string
	look func(*inspection)
}

// hostProbes are about the client and its settings.
var hostProbes = []probe{
	{"client", lookClient}, {"runner", lookRunner}, {"cap", lookCap}, {"settings", lookSettings}, {"hooks", lookDisabled},
	{"entry", lookEntry}, {"program", lookProgram}, {"rivals", lookRivals}, {"clients", lookClients}, {"git", lookGit},
}

// unanswered looks at what can keep the stops of a loop from the hook, and costs no process.
func (v verbs) unanswered(name string, at *loopdir.Loop) (why, fix string) {
	c := client.Find(name)
	probes := []probe{{"settings", lookSettings}, {"hooks", lookDisabled}, {"entry", lookEntry}, {"program", lookProgram}}
	switch {
	case name == "":
	case c.Name != name: // a client without a row works by MCP
		return "", ""
	case !v.install(c, at.Project).Hooked():
		return fmt.Sprintf("the hook is in no settings of %s", c.Title), "ralph-stop-hook init --client " + c.Name
	default:
		probes = []probe{{"clients", func(in *inspection) { in.lookClient(c) }}}
	}
	// A job such as cron's has another PATH than the session, which finds this program, too.
	path := v.Env.Get("PATH") + string(filepath.ListSeparator) + filepath.Dir(v.Env.Self)
	v.Env.Vars = append(slices.Clone(v.Env.Vars), "PATH="+path)
	in := v.newInspection(at.Project)
	in.look(probes)
	for _, f := range in.found {
		if f.Level == "error" && !(f.Check == "settings" && in.install.Hooked()) { // another file has the hook
			return f.Text, f.Fix
		}
	}
	return "", ""
}

// assumeEntry has a test go without an entry in the settings: it calls the hook itself.
var assumeEntry = false

// loopProbes are about one loop, and readableProbes about one that can be read.
var (
	loopProbes     = []probe{{"folders", lookFolders}, {"loop", lookLoop}}
	readableProbes = []probe{
		{"list", lookList}, {"trust", lookTrust}, {"room", lookRoom}, {"confine", lookConfine},
		{"time", lookTime}, {"session", lookSession}, {"prompt", lookPrompt}, {"notices", lookNotices},
		{"commit", lookCommit}, {"leftovers", lookLeftovers},
	}
)

// look runs probes. What they find is in found.
func (in *inspection) look(probes []probe) {
	for _, p := range probes {
		in.check, in.before = p.name, len(in.found)
		p.look(in)
	}
}

// inspect runs all probes. trouble is why there is no loop to look at.
func (v verbs) inspect(l *loopdir.Loop, trouble error) ([]*finding, error) {
	project, err := v.projectHere()
	if err != nil {
		return nil, err
	}
	in := v.newInspection(project)
	in.loop = l
	in.look(hostProbes)
	switch in.check = "loop"; {
	case trouble != nil && l == nil:
		in.failure("", "%v", trouble)
	case l == nil:
		in.note("ralph-stop-hook init", "no loop in this project")
	default:
		in.look(loopProbes)
	}
	if in.picture != nil {
		defer in.picture.Loop.Close()
		in.look(readableProbes)
	}
	return in.found, nil
}

// diagnose inspects, fixes problems if fix is set, and shows what is left.
func (v verbs) diagnose(w io.Writer, l *loopdir.Loop, trouble error, fix, asJSON bool) error {
	if fix {
		if err := v.PersonOnly(); err != nil {
			return err
		}
	}
	found, err := v.inspect(l, trouble)
	if err != nil {
		return err
	}
	if fix {
		if mended := mendAll(found); len(mended) > 0 {
			found, err = v.inspect(l, trouble)
			if err != nil {
				return err
			}
			found = append(mended, found...)
		}
	}
	if asJSON {
		return cmp.Or(cli.JSON(w, found), tooManyErrors(found))
	}
	for n, f := range found {
		fmt.Fprintf(w, "%-8s %-10s %s\n", f.Level, f.Check, f.Text)
		// A fix for several findings is shown once, below the last of them.
		again := func(later *finding) bool { return later.Fix == f.Fix }
		if f.Fix != "" && !slices.ContainsFunc(found[n+1:], again) {
			fmt.Fprintf(w, "%20s-> %s\n", "", f.Fix)
		}
	}
	return tooManyErrors(found)
}

// mendAll fixes what can be fixed, and reports each.
func mendAll(found []*finding) []*finding {
	var in inspection
	for _, f := range found {
		if f.mend == nil {
			continue
		}
		in.check = f.Check
		if err := f.mend(); err != nil {
			in.warning(f.Fix, "not fixed: %v", err)
		} else {
			in.good("fixed: %s", f.Text)
		}
	}
	return in.found
}

func tooManyErrors(found []*finding) error {
	count := map[string]int{}
	for _, f := range found {
		count[f.Level]++
	}
	if count["error"] == 0 {
		return nil
	}
	return fmt.Errorf("%s and %s; each line says what to do",
		plain.Count(count["error"], "error"), plain.Count(count["warning"], "warning"))
}
