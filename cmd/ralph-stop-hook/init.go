package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

// initialiser is one run of init.
type initialiser struct {
	name       string
	list       string // --features
	iterations int
	onComplete []string
	checks     []string // shell commands, when: complete
	scope      string   // --settings
	dryRun     bool
	force      bool
	given      func(flag string) bool // by the person; else it has its default

	out     io.Writer
	project string // absolute
	dir     string // of the loop
	found   decide.List
	absent  []string      // files that commands name, and that are not there yet
	over    decide.Status // how a loop of this name has ended, that was here before
}

func initCommand() *command {
	i := &initialiser{}
	cmd := &command{
		name:  "init",
		args:  "[NAME]",
		short: "Make a loop in this folder and install the hook",
		example: `  ralph-stop-hook init checkout
  ralph-stop-hook init checkout --features docs/prd.json --max-iterations 30 --on-complete ./notify.sh`,
		run: func(w io.Writer, args []string) error {
			i.out = w
			if len(args) > 0 {
				if i.name = args[0]; i.name == "" {
					return &usageError{errors.New("the name is empty")}
				}
			}
			return i.run()
		},
	}
	f := &cmd.flags
	i.given = cmd.given
	f.StringVar(&i.list, "features", "", "the feature list, a `FILE` below this folder (default feature_list.json or prd.json here, else an example)")
	f.IntVar(&i.iterations, "max-iterations", decide.DefaultIterations, "how many iterations, `N`, the loop may have")
	f.Func("check", "a shell `COMMAND` that has to exit with 0 before the loop is complete; may be repeated", eachInto(&i.checks))
	f.Func("on-complete", "a shell `COMMAND` to run when the loop ends, JSON on its standard input; may be repeated", eachInto(&i.onComplete))
	f.StringVar(&i.scope, "settings", "project", "`WHICH` settings get the hook: project, local, user or none")
	f.BoolVar(&i.dryRun, "dry-run", false, "say what would be written, and write nothing")
	f.BoolVar(&i.force, "force", false, "start a loop of this name anew; the list stays as it is")
	return cmd
}

func (i *initialiser) run() error {
	if err := i.check(); err != nil {
		return err
	}
	file, err := i.settingsFile()
	if err != nil {
		return err
	}
	// Everything that can be refused is looked at before anything is written.
	if err := file.merge(); err != nil {
		return err
	}
	if err := file.preflight(i); err != nil {
		return err
	}
	files, err := i.files()
	if err != nil {
		return err
	}
	if dir, err := loopdir.StateDir(os.Getenv); err != nil {
		return err
	} else if !loopdir.Protects(dir, i.project) {
		if err := i.unprotected(); err != nil {
			return err
		}
	}
	if i.dryRun {
		for _, f := range files {
			verb := "write"
			if f.kept {
				verb = "keep"
			}
			fmt.Fprintf(i.out, "  would %-8s%s\n", verb, i.show(filepath.Join(i.dir, f.name)))
		}
		file.report(i, "would ")
		fmt.Fprint(i.out, file.preview())
		return nil
	}
	if err := i.write(files); err != nil {
		return err
	}
	if err := file.write(); err != nil {
		return err
	}
	file.report(i, "")
	i.farewell()
	return nil
}

// check settles the names and reads the list.
func (i *initialiser) check() error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	if i.project, err = filepath.EvalSymlinks(cwd); err != nil {
		return err
	}
	if i.name == "" {
		i.name = defaultName(i.project)
	}
	if err := loopdir.CheckName(i.name); err != nil {
		return &usageError{fmt.Errorf("%w; say another one: ralph-stop-hook init NAME", err)}
	}
	if i.iterations < 1 || i.iterations > config.MaxCount {
		return errIterations
	}
	for flag, commands := range map[string][]string{"--on-complete": i.onComplete, "--check": i.checks} {
		for _, c := range commands {
			if strings.TrimSpace(c) == "" {
				return &usageError{fmt.Errorf("%s is empty", flag)}
			}
		}
	}
	if i.force || len(i.onComplete)+len(i.checks) > 0 {
		if err := personOnly(); err != nil {
			return err
		}
	}
	i.dir = filepath.Join(i.project, loopdir.Below, i.name)
	return i.findList()
}

// defaultName makes a loop's name of the folder's.
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
		rel, _ := features.Named(i.list)
		tag := i.list[len(rel):]
		if filepath.IsAbs(rel) {
			real, err := filepath.EvalSymlinks(rel)
			if err != nil {
				return err
			}
			if rel, err = filepath.Rel(i.project, real); err != nil {
				return err
			}
		}
		if !filepath.IsLocal(rel) {
			return fmt.Errorf("the list %s is not below this folder; run init in the folder that holds it", i.list)
		}
		candidates = []string{filepath.Clean(rel) + tag}
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

func (i *initialiser) readList(path string) error {
	s := &loopdir.Store{Loop: &loopdir.Loop{Dir: i.dir, Project: i.project}}
	i.found = s.List(path)
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

// files are the files of the loop folder. What exists stays, unless --force.
func (i *initialiser) files() ([]loopFile, error) {
	config, err := i.config()
	if err != nil {
		return nil, err
	}
	next, _ := i.found.Next()
	header := progress.Header{Status: string(decide.InProgress), Iteration: 1, MaxIterations: i.iterations, Feature: plain.Line(next.ID, 80)}
	list := []loopFile{
		{name: loopdir.ConfigFile, text: config},
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
	text, err := readFile(filepath.Join(i.dir, loopdir.ConfigFile), config.MaxBytes)
	if err != nil {
		return err
	}
	c, err := config.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", i.show(filepath.Join(i.dir, loopdir.ConfigFile)), err)
	}
	var shell []string
	for _, command := range commandsFor(config.InForce{Config: c}, "", config.OnComplete) {
		shell = append(shell, command.String())
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
		return fmt.Errorf("the loop %q is there already and its ralph.json says something else; edit that and run '%s', or start anew with --force", i.name, doer(i.name)("trust"))
	}
	i.onComplete, i.checks = shell, checks
	i.iterations = cmp.Or(c.Limits.MaxIterations, decide.DefaultIterations)
	return nil
}

// write makes the loop folder, its record, and what is in it.
func (i *initialiser) write(files []loopFile) error {
	if err := os.MkdirAll(i.dir, 0o755); err != nil {
		return err
	}
	w := where()
	w.LoopDir = i.dir
	l, err := loopdir.Find(w)
	if err != nil {
		return err
	}
	s, err := l.Open()
	if err != nil {
		return err
	}
	defer s.Close()
	unlock, err := s.Lock(lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	if !s.Protected {
		if err := i.unprotected(); err != nil {
			return err
		}
	}
	// Looked at before the first write, so that a refusal leaves nothing behind.
	before, err := s.State()
	if err != nil && !i.force {
		return err
	}
	fmt.Fprintf(i.out, "loop %q: %s, %d of them pass; at most %s\n", i.name, plural(len(i.found.Items), "feature"), i.found.Passed(), plural(i.iterations, "iteration"))
	if file, tag := features.Named(i.list); tag == "" && len(i.found.Tags) > 1 {
		fmt.Fprintf(i.out, "  it has the tags %s, and this is #master; another one: --features %s#TAG\n", plain.Line(strings.Join(i.found.Tags, ", "), 300), plain.Line(file, 300))
	}
	for _, f := range files {
		path := i.show(filepath.Join(i.dir, f.name))
		if f.kept {
			fmt.Fprintf(i.out, "  kept     %s\n", path)
			continue
		}
		// Trusted first: cut off in between, the next init writes both again.
		if f.name == loopdir.ConfigFile {
			// What a person trusted is a person's to replace, also where the
			// file itself is gone.
			if trust, err := s.Trust(); trust != nil || err != nil {
				if err := personOnly(); err != nil {
					return err
				}
			}
			list := i.found
			if i.list == "" {
				list = decide.List{} // an example, to be written over
			}
			record, err := trusted(s, []byte(f.text), list, false)
			if err != nil {
				return err
			}
			if err := s.SetTrust(record, s.ListPath(i.list, "")); err != nil && s.Protected {
				return err // else there is no command in it to trust
			}
			for _, key := range slices.Sorted(maps.Keys(record.Files)) {
				if record.Files[key] == "" && !config.Optional(key) {
					i.absent = append(i.absent, key)
				}
			}
		}
		if err := s.WriteFile(f.name, []byte(f.text)); err != nil {
			return err
		}
		fmt.Fprintf(i.out, "  wrote    %s\n", path)
	}
	if before.Schema == 0 || i.force {
		if err := i.begin(s); err != nil {
			return err
		}
	} else if !before.Status.GoesOn() {
		i.over = before.Status
	}
	return l.MakeCurrent()
}

// unprotected refuses commands that an agent could change.
func (i *initialiser) unprotected() error {
	if len(i.onComplete)+len(i.checks) == 0 {
		return nil
	}
	return fmt.Errorf("%w, or leave out --on-complete and --check", loopdir.ErrUnprotected)
}

// begin makes the record of the loop.
func (i *initialiser) begin(s *loopdir.Store) error {
	text, err := s.Progress()
	if err != nil {
		return err
	}
	if i.force {
		if err := errors.Join(s.ClearCancel(), s.ClearLogs()); err != nil {
			return err
		}
	}
	begin := decide.Snapshot{Header: progress.Parse(text), LogIteration: s.LogIteration()}
	state := begin.Record()
	next, _ := i.found.Next()
	state.Loop, state.Name, state.List = s.Dir, s.Name, s.ListPath(i.list, "")
	state.Feature, state.Attempts, state.Bind = next.ID, 1, decide.BindPrompt
	return s.SaveState(state)
}

// show shortens a path below the project.
func (i *initialiser) show(path string) string { return relative(i.project, path) }
