package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/confine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// initialiser is one run of init: it plans everything that can be refused, shows the
// plan if that is asked for, and then writes.
type initialiser struct {
	v          verbs
	name       string
	list       string // --features
	iterations int
	onComplete []string
	checks     []string // shell commands, when: complete
	scope      string   // --settings
	dryRun     bool
	force      bool
	given      func(flag string) bool // whether the person gave a flag

	out        io.Writer
	project    string // absolute
	dir        string // of the loop
	confine    bool
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
  ralph-stop-hook init checkout --features docs/prd.json --max-iterations 30 --on-complete ./notify.sh`,
		Run: func(w io.Writer, args []string) error {
			i.out = w
			if len(args) > 0 {
				if i.name = args[0]; i.name == "" {
					return cli.Usagef("the name is empty")
				}
			}
			return i.run()
		},
	}
	f := &cmd.Flags
	i.given = cmd.Given
	f.StringVar(&i.list, "features", "", "the feature list, a `FILE` below this folder "+
		"(default feature_list.json or prd.json here, else an example)")
	f.IntVar(&i.iterations, "max-iterations", decide.DefaultIterations, "how many iterations, `N`, the loop may have")
	f.Func("check", "a shell `COMMAND` that has to exit with 0 before the loop is complete; may be repeated",
		cli.Each(&i.checks))
	f.BoolVar(&i.confine, "confine", false, "checks can write only to the project and a temporary folder")
	f.Func("on-complete", "a shell `COMMAND` to run when the loop ends, JSON on its standard input; may be repeated",
		cli.Each(&i.onComplete))
	f.StringVar(&i.scope, "settings", "project", "`WHICH` settings get the hook: project, local, user or none")
	f.BoolVar(&i.dryRun, "dry-run", false, "say what would be written, and write nothing")
	f.BoolVar(&i.force, "force", false, "start a loop of this name anew; the list stays as it is")
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

// plan settles what will be written. Everything that can be refused is refused here,
// before anything is written.
func (i *initialiser) plan() (err error) {
	if err := i.check(); err != nil {
		return err
	}
	if i.hook, err = i.planHook(); err != nil {
		return err
	}
	if err := i.hook.merge(); err != nil {
		return err
	}
	if err := i.hook.outside(i); err != nil {
		return err
	}
	if err := i.hook.preflight(i); err != nil {
		return err
	}
	if i.files, err = i.planFiles(); err != nil {
		return err
	}
	return i.checkState()
}

// checkState refuses a loop whose record could not be kept, and one with commands that
// an agent could change.
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
	fmt.Fprint(i.out, i.hook.preview())
}

// check settles the names and reads the list.
func (i *initialiser) check() (err error) {
	if i.confine {
		if err := confine.Available(); err != nil {
			return err
		}
	}
	if i.project, err = projectFolder(); err != nil {
		return err
	}
	if i.name == "" {
		i.name = defaultName(i.project)
	}
	if err := loopdir.CheckName(i.name); err != nil {
		return cli.Usagef("%w; say another one: ralph-stop-hook init NAME", err)
	}
	if i.iterations < 1 || i.iterations > decide.MaxCount {
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

// projectFolder is the working folder, with its links resolved.
func projectFolder() (string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(cwd)
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

// findList looks for the list: --features, else one at the project's root,
// else none, and an example will be written.
func (i *initialiser) findList() error {
	candidates := []string{loopdir.ListFile, "prd.json"}
	if i.list != "" {
		named, err := i.namedList()
		if err != nil {
			return err
		}
		candidates = []string{named}
	}
	for _, rel := range candidates {
		path := filepath.Join(i.project, rel)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && i.list == "" {
			continue
		}
		i.list = filepath.ToSlash(rel)
		return i.readList(path)
	}
	if path := filepath.Join(i.dir, loopdir.ListFile); exists(path) {
		return i.readList(path) // of an earlier run
	}
	i.found.List, i.found.Err = features.Parse([]byte(exampleList))
	return i.found.Err
}

// namedList returns the path of --features, with its tag, below the project.
func (i *initialiser) namedList() (string, error) {
	rel, _ := features.Named(i.list)
	tag := i.list[len(rel):]
	if filepath.IsAbs(rel) {
		real, err := filepath.EvalSymlinks(rel)
		if err != nil {
			return "", err
		}
		if rel, err = filepath.Rel(i.project, real); err != nil {
			return "", err
		}
	}
	if !filepath.IsLocal(rel) {
		return "", fmt.Errorf("the list %s is not below this folder; run init in the folder that holds it", i.list)
	}
	return filepath.Clean(rel) + tag, nil
}

func (i *initialiser) readList(path string) error {
	i.found = loopdir.ReadList(path, i.dir, i.project)
	return i.found.Err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// loopFile is a file of the loop folder that init writes.
type loopFile struct {
	name string
	text string
	kept bool // it is there already and stays
}

// planFiles returns the files of the loop folder. What exists stays, unless --force.
func (i *initialiser) planFiles() ([]loopFile, error) {
	config, err := i.config()
	if err != nil {
		return nil, err
	}
	next, _ := i.found.Next()
	header := progress.Header{
		Status: string(decide.InProgress), Iteration: 1, MaxIterations: i.iterations, Feature: plain.Line(next.ID, 80),
	}
	list := []loopFile{
		{name: loopdir.ConfigFile, text: string(config)},
		{name: loopdir.ProgressFile, text: string(progress.Edit([]byte("\n# Notes\n"), header))},
		{name: loopdir.PromptFile, text: i.prompt()},
		{name: loopdir.IgnoreFile, text: ignoreText},
	}
	if i.list == "" {
		list = append([]loopFile{{name: loopdir.ListFile, text: exampleList}}, list...)
	}
	for n := range list {
		f := &list[n]
		// A list is the person's: not even --force writes over it.
		f.kept = exists(filepath.Join(i.dir, f.name)) && (!i.force || f.name == loopdir.ListFile)
		if f.kept && f.name == loopdir.ConfigFile {
			if err := i.keepConfig(); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// keepConfig takes over what the ralph.json that is there says, and refuses
// flags of this run that say something else.
func (i *initialiser) keepConfig() error {
	text, err := loopdir.ReadAny(filepath.Join(i.dir, loopdir.ConfigFile), config.MaxBytes)
	if err != nil {
		return err
	}
	c, err := config.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", i.show(filepath.Join(i.dir, loopdir.ConfigFile)), err)
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
	differs := i.given("max-iterations") && i.iterations != c.Limits.MaxIterations ||
		i.list != "" && i.list != c.List ||
		len(i.onComplete) > 0 && !slices.Equal(shell, i.onComplete) ||
		len(i.checks) > 0 && !slices.Equal(checks, i.checks)
	if differs {
		return fmt.Errorf("the loop %q is there already and its ralph.json says something else; "+
			"edit that and run '%s', or start anew with --force", i.name, i.v.Env.Call("trust", i.name))
	}
	i.onComplete, i.checks = shell, checks
	i.iterations = cmp.Or(c.Limits.MaxIterations, decide.DefaultIterations)
	return nil
}
