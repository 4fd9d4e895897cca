package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

func (v verbs) doctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [NAME]",
		Short: "Find out why the hook or a loop does not work",
		Long: `Check the settings, the programs and the loop, and run each of its checks once. Each problem
comes with a fix. The exit status is 1 if there is an error.`,
		RunE: cli.Run(func(w io.Writer, args []string) error {
			l, err := v.Find(args)
			if l == nil && len(args) > 0 {
				return err
			}
			if errors.Is(err, verb.ErrNoLoop) {
				err = nil
			}
			found, err := v.inspect(l, err)
			switch {
			case err != nil:
				return err
			case asJSON:
				return cmp.Or(cli.JSON(w, found), countErrors(found))
			}
			for _, f := range found {
				fmt.Fprintf(w, "%-8s %-10s %s\n", f.Level, f.Check, f.Text)
				if f.Fix != "" {
					fmt.Fprintf(w, "%20s-> %s\n", "", f.Fix)
				}
			}
			return countErrors(found)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: an array of {check, level, text, fix}")
	return cmd
}

func countErrors(found []*finding) error {
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

type finding struct {
	Check string `json:"check"`
	Level string `json:"level"` // ok, note, warning or error
	Text  string `json:"text"`
	Fix   string `json:"fix"` // how to fix it
}

// inspection is a look at a project, its settings and a loop.
type inspection struct {
	v        verbs
	project  string
	settings []settings // of the clients, the narrowest first
	loop     *loopdir.Loop
	picture  *loop.Picture // nil if the loop cannot be read

	check  string     // the name of the probe that looks
	found  []*finding // by all probes so far
	before int        // how many of these other probes have found
}

// settings is one settings file.
type settings struct {
	client.Settings
	client *client.Client
	shown  string // the path, for people
}

// newInspection reads the settings of some clients.
func (v verbs) newInspection(project string, clients ...client.Client) *inspection {
	in := &inspection{v: v, project: project}
	for n := range clients {
		c := &clients[n]
		for _, s := range v.install(c, project).Settings(c.Scopes...) {
			same := func(other settings) bool { return loopdir.SameFile(other.Path, s.Path) }
			if !slices.ContainsFunc(in.settings, same) { // in the home folder the project's settings are the user's
				in.settings = append(in.settings, settings{s, c, plain.Path(project, s.Path)})
			}
		}
	}
	return in
}

func (in *inspection) report(level, fix, format string, args []any) {
	in.found = append(in.found, &finding{
		Check: in.check, Level: level, Fix: plain.Line(fix, 1000), Text: plain.Line(fmt.Sprintf(format, args...), 1000),
	})
}

func (in *inspection) good(format string, args ...any)      { in.report("ok", "", format, args) }
func (in *inspection) note(fix, format string, args ...any) { in.report("note", fix, format, args) }
func (in *inspection) warning(fix, format string, args ...any) {
	in.report("warning", fix, format, args)
}
func (in *inspection) failure(fix, format string, args ...any) { in.report("error", fix, format, args) }

// fine says that all is good, unless the probe has found something.
func (in *inspection) fine(format string, args ...any) {
	if len(in.found) == in.before {
		in.good(format, args...)
	}
}

// probe looks at one thing.
type probe struct {
	name string
	look func(*inspection)
}

// hostProbes are about the clients and the project.
var (
	hostProbes = []probe{
		{"settings", lookSettings}, {"hooks", lookSwitchedOff}, {"entry", lookEntry}, {"program", lookProgram},
		{"version", lookVersions}, {"git", lookGit}, {"others", lookRivals},
	}
	loopProbes = []probe{{"folders", lookFolders}, {"loop", lookLoop}}
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
	in := v.newInspection(project, client.All...)
	in.loop = l
	switch in.check = "loop"; {
	case trouble != nil && l == nil:
		in.failure("", "%v", trouble)
	case l == nil:
		in.note("ralph-stop-hook init", "no loop in this project")
	default:
		in.look(loopProbes)
	}
	in.look(hostProbes)
	if in.picture != nil {
		defer in.picture.Loop.Close()
		in.look([]probe{{"list", lookList}, {"checks", lookChecks}})
	}
	return in.found, nil
}

// assumeEntry has a test go without an entry in the settings: it calls the hook itself.
var assumeEntry = false
