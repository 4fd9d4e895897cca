package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/confine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// initialiser is one run of init. It plans everything that can be refused, shows the plan if asked
// to, and then writes.
type initialiser struct {
	v          verbs
	name       string
	list       string // --features, or config.ListNone
	task       verb.Task
	limits     decide.Limits
	onComplete []string
	checks     []string // shell commands, when: complete
	scope      string   // --settings
	client     string   // --client
	dryRun     bool
	force      bool
	given      func(flag string) bool // whether the person gave a flag

	out        io.Writer
	project    string // absolute
	dir        string // of the loop
	confine    bool
	reading    features.Reading // how the list is read
	found      decide.List
	files      []loopFile
	hook       settingsEdit
	held       []string      // what commands name
	notHeld    []string      // what they rest on and is not held
	pathInside string        // folders of PATH that commands do without
	absent     []string      // files that commands name and that do not exist yet
	over       decide.Status // how an earlier loop of this name has ended
}

func (v verbs) init() *cli.Command {
	i := &initialiser{v: v}
	cmd := &cli.Command{
		Name:  "init",
		Args:  "[NAME]",
		Short: "Make a loop in this folder and install the hook",
		Example: `  ralph-stop-hook init checkout
  ralph-stop-hook init checkout --features docs/prd.json --max-iterations 30 --on-complete ./notify.sh
  ralph-stop-hook init checkout --client codex  for Codex instead of Claude Code
  ralph-stop-hook init todos --prompt 'Build a todo API.' --check 'go test ./...'    without a list`,
		Run: func(w io.Writer, args []string) error {
			i.out = w
			if len(args) > 0 {
				i.name = args[0]
				if i.name == "" {
					return cli.Usagef("the name is empty")
				}
			}
			return i.run()
		},
	}
	f := &cmd.Flags
	i.given = cmd.Given
	f.StringVar(&i.list, "features", "", config.Usage("list"))
	i.task.Flags(f)
	i.limits.MaxIterations = decide.DefaultIterations
	verb.LimitFlags(f, &i.limits)
	f.Func("check", config.Usage("checks"), cli.Each(&i.checks))
	f.BoolVar(&i.confine, "confine", false, config.Usage("confine"))
	f.Func("on-complete", config.Usage("on_complete"), cli.Each(&i.onComplete))
	f.StringVar(&i.client, "client", client.Usual,
		"install the hook for the client `NAME`: claude, codex, gemini or qwen")
	f.StringVar(&i.scope, "settings", "project", "install the hook in the settings `WHICH`: project, local, user or none")
	f.BoolVar(&i.dryRun, "dry-run", false, "show what would be written, and write nothing")
	f.BoolVar(&i.force, "force", false, "start this loop anew, and keep its list")
	return cmd
}

func (i *initialiser) run() error {
	if err := i.plan(); err != nil {
		return err
	}
	if i.dryRun {
		i.showPlan()
		return nil
	}
	if err := i.write(); err != nil {
		return err
	}
	if err := i.hook.write(); err != nil {
		return err
	}
	i.hook.report(i, "")
	i.farewell()
	return nil
}

// plan decides what will be written. It refuses everything that can be refused before anything is
// written.
func (i *initialiser) plan() error {
	steps := []func() error{
		i.check, i.planHook, i.hook.merge, i.outside, i.preflight, i.planFiles, i.checkList, i.checkState,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// checkState refuses a loop whose record could not be written, and one with commands that an agent
// could change.
func (i *initialiser) checkState() error {
	if i.v.Env.StateErr != nil {
		return i.v.Env.StateErr
	}
	if !loopdir.CanKeep(i.v.Env.StateDir) {
		return fmt.Errorf("the state folder %s cannot be written, so no record of the loop can be kept; "+
			"set RALPH_STATE_DIR to a folder of yours", i.v.Env.StateDir)
	}
	if len(i.onComplete)+len(i.checks) > 0 && !loopdir.Protects(i.v.Env.StateDir, i.project) {
		return fmt.Errorf("%w, or leave out --on-complete and --check", loopdir.ErrUnprotected)
	}
	return nil
}

func (i *initialiser) showPlan() {
	for _, f := range i.files {
		verb := "write"
		if f.kept {
			verb = "keep"
		}
		fmt.Fprintf(i.out, "  would %-8s%s\n", verb, i.show(filepath.Join(i.dir, f.name)))
	}
	i.hook.report(i, "would ")
	for _, line := range client.Added(i.hook.old, i.hook.text) {
		fmt.Fprintf(i.out, "    + %s\n", plain.Text(line, 500))
	}
}

// check decides on the names and reads the list.
func (i *initialiser) check() (err error) {
	if i.confine {
		if err := confine.Available(); err != nil {
			return err
		}
	}
	if err := i.task.Read(i.given); err != nil {
		return err
	}
	if i.project, err = i.projectFolder(); err != nil {
		return err
	}
	if i.name == "" {
		i.name = defaultName(i.project)
	}
	if err := loopdir.CheckName(i.name); err != nil {
		return cli.Usagef("%w; say another one: ralph-stop-hook init NAME", err)
	}
	if i.limits.MaxIterations < 1 || i.limits.MaxIterations > decide.MaxCount {
		return verb.ErrIterations
	}
	for flag, commands := range map[string][]string{"--on-complete": i.onComplete, "--check": i.checks} {
		if slices.ContainsFunc(commands, func(c string) bool { return strings.TrimSpace(c) == "" }) {
			return cli.Usagef("%s is empty", flag)
		}
	}
	if i.force || len(i.onComplete)+len(i.checks) > 0 {
		if err := i.v.PersonOnly(); err != nil {
			return err
		}
	}
	i.dir = filepath.Join(i.project, loopdir.Below, i.name)
	return i.findList()
}

func defaultName(project string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, filepath.Base(project))
	return cmp.Or(strings.Trim(name, "-"), "loop")
}
