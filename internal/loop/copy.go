package loop

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proof"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Checks run in a clean copy of the project, outside of it. It has what a person has trusted, and of the changes since
// then those that count.

// place returns where the baseline and the copy are. What a worker did is copied apart, and so it is for each of the
// checks that run at the same time.
func (p *Picture) place() proof.Place {
	place := p.Loop.placeOf(p.Config.CopyDir)
	place.Name = p.Loop.slot
	if p.Loop.inWorkTree {
		place.Name = "worker" + p.Loop.slot
	}
	if place.Name != "" {
		place.Copy = siblingCopy(p.Config.CopyDir, place.Name)
	}
	return place
}

// siblingCopy returns the folder of another copy of a loop. No project has the name of the folder above it.
func siblingCopy(copyDir, name string) string {
	base := filepath.Base(copyDir)
	return filepath.Join(filepath.Dir(copyDir), name+"-of-"+base, base)
}

func (l *Loop) placeOf(copyDir string) proof.Place {
	return proof.Place{Store: filepath.Join(l.At.StatePath(), loopdir.ProofFolder), Copy: copyDir}
}

// base returns the project as a path from the top of the copy on, separated by slashes.
func (p *Picture) base() string {
	top := filepath.Join(p.Loop.At.Project, filepath.FromSlash(p.Config.Top))
	base, err := filepath.Rel(top, p.Loop.At.Project)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(base)
}

// fromBase returns a path from the top on as one from the project.
func fromBase(base, name string) string {
	if base == "." { // as for most projects, and for each of their files
		return path.Clean(name)
	}
	rel, err := filepath.Rel(filepath.FromSlash(base), filepath.FromSlash(name))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// ignoreRules returns the texts of the .gitignore files that are in force. The copy honours them in a project without a
// repository, too.
func (l *Loop) ignoreRules() map[string]string {
	t := l.tree(l.environ())
	t.Top = cmp.Or(t.Top, t.Dir)
	return t.IgnoreRules(context.Background())
}

// takeBaseline records what the project has now as what is trusted. Unless keeps is set it only finds out whether it
// can.
func (l *Loop) takeBaseline(c config.Config, record *config.Trust, keeps bool) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("the project cannot be copied for the checks: "+format, args...)
	}
	if l.Env.CacheDir == "" || !loopdir.Protects(l.Env.CacheDir, l.At.Project) {
		return refuse("the cache folder %q is not outside of the project; set XDG_CACHE_HOME or HOME", l.Env.CacheDir)
	}
	if !loopdir.Protects(l.At.StatePath(), l.At.Project) {
		return refuse("%w", loopdir.ErrUnprotected)
	}
	inProject := func(check config.Check) bool { return check.In == config.InProject }
	inCopy := slices.DeleteFunc(slices.Clone(c.Checks), inProject)
	if name := namesProject(inCopy, l.At.Project); name != "" {
		return fmt.Errorf(`the check %s names the project by its whole path, so it would not look at the copy; `+
			`name files from the project's folder on, or give the check "in": "project"`, name)
	}
	p := &Picture{Loop: l, Config: config.Effective{Config: c, Trust: *record, Trusted: true}}
	if state, err := l.Store.State(); err == nil {
		p.Snapshot.State.List = state.List
	}
	top := cmp.Or(loopdir.RepoRoot(l.At.Project), l.At.Project)
	rel, err := filepath.Rel(l.At.Project, top)
	if err != nil {
		return refuse("%w", err)
	}
	p.Config.Top = filepath.ToSlash(rel)
	copies := loopdir.CopyFolder(l.Env.CacheDir, filepath.Base(l.At.StatePath()))
	p.Config.CopyDir = filepath.Join(copies, filepath.Base(top))
	work := p.work()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), trustTime)
	defer cancel()
	entries, err := work.Entries(ctx, nil)
	named := slices.DeleteFunc(c.ProtectedPaths(), func(name string) bool { // that git ignores
		return !within(path.Join(p.base(), name), entries.Hidden...)
	})
	if err == nil && len(named) > 0 {
		for i := range named {
			named[i] = path.Join(p.base(), named[i])
		}
		entries, err = work.Entries(ctx, named)
	}
	if err != nil {
		return refuse(`%w; give each check "in": "project", or have the loop in a smaller folder`, err)
	}
	if !keeps {
		return nil
	}
	baseline, left, err := p.place().Trust(ctx, work.Top, entries)
	if err != nil {
		return refuse("%w", err)
	}
	record.Baseline = baseline.ID
	record.BaselineAt = begin
	record.Top = p.Config.Top
	record.CopyDir = p.Config.CopyDir
	l.omissions = p.fromProject(left)
	return nil
}

const (
	trustTime = 10 * time.Minute // to copy a large project once
	lookTime  = time.Minute      // for a look at the project, or at other work trees
)

// work is the tree of the project as it is now.
func (p *Picture) work() tree.Tree {
	t := p.treeToProve()
	t.Top = filepath.Join(p.Loop.project(), filepath.FromSlash(p.Config.Top))
	if t.Rules == nil {
		t.Rules = map[string]string{} // what an agent writes does not hide files
	}
	base := p.base()
	t.Hide = func(name string) bool {
		if !config.HasPackages(name) && !p.copyOwns(base, name) {
			return false
		}
		baseline, err := p.baseline()
		return err != nil || !baseline.Has(name)
	}
	return t
}

// baseline reads the baseline, once.
func (p *Picture) baseline() (*proof.Baseline, error) {
	l := p.Loop
	if l.base == nil || l.base.ID != p.Config.Baseline {
		baseline, err := p.place().Baseline(p.Config.Baseline)
		if err != nil {
			return nil, fmt.Errorf("%w; look at the project, then run: %s", err, l.Call("trust"))
		}
		l.base = baseline
	}
	return l.base, nil
}

// look finds out what checks would see now, and what they would not. If keeps is set, what the copy needs is stored.
func (p *Picture) look(ctx context.Context, keeps bool) (*proof.Look, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	baseline, err := p.baseline()
	if err != nil {
		return nil, err
	}
	work := p.work()
	entries, err := work.Entries(ctx, baseline.Ignored())
	if err != nil {
		return nil, err
	}
	look, err := p.place().Look(ctx, baseline, work.Top, entries, p.rule(), keeps)
	if err != nil {
		return nil, err
	}
	p.Loop.look = look
	return look, nil
}

// rule says which changes count.
func (p *Picture) rule() proof.Rule {
	c, base := &p.Config, p.base()
	return proof.Rule{
		Why: func(name string, added bool) string {
			name = fromBase(base, name)
			switch {
			case c.Protects(name, added):
				return proof.IsProtected
			case len(c.Work) > 0 && (strings.HasPrefix(name, "../") || !c.IsWork(name)):
				return proof.IsNotWork
			}
			return ""
		},
		Keys:   func(name string) []string { return c.ProtectedKeys(fromBase(base, name)) },
		InCopy: func(name string) bool { return p.copyOwns(base, name) },
	}
}

// copyOwns reports whether the copy has its own of a file or folder that git ignores, or that is a loop's.
func (p *Picture) copyOwns(base, name string) bool {
	name = fromBase(base, name)
	return p.Config.CopyOwns(name) || isLoops(name)
}

// isLoops reports whether a path is that of a folder of loops or of a run, or below it.
func isLoops(name string) bool { return within(name, loopdir.Below, loopdir.RunFolder) }

// within reports whether a path is that of one of these folders, or below it.
func within(name string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool {
		rest, has := strings.CutPrefix(name, dir)
		return has && (rest == "" || rest[0] == '/')
	})
}

// NotCounted returns what the checks do not see as it is in the project, with paths from the project on. It looks,
// unless this process has looked before.
func (p *Picture) NotCounted(ctx context.Context) []proof.Change {
	if !p.HasCopy() {
		return nil
	}
	look := p.Loop.look
	if look == nil {
		var err error
		look, err = p.look(ctx, false)
		if err != nil {
			return nil
		}
	}
	return p.fromProject(look.NotCounted)
}

// LastNotCounted is NotCounted as it was when a stop looked last.
func (p *Picture) LastNotCounted() []proof.Change {
	switch {
	case !p.HasCopy():
		return nil
	case p.Loop.look != nil:
		return p.fromProject(p.Loop.look.NotCounted)
	}
	return p.fromProject(p.place().LastNotCounted(p.Config.Baseline))
}

// fromProject returns changes with paths from the project on, without a folder that is new and has the loop's own.
func (p *Picture) fromProject(changes []proof.Change) []proof.Change {
	own, _ := filepath.Rel(p.base(), p.Loop.At.Dir)
	changes = slices.DeleteFunc(slices.Clone(changes), func(c proof.Change) bool {
		return strings.HasSuffix(c.Path, "/") && strings.HasPrefix(filepath.ToSlash(own)+"/", c.Path)
	})
	for i := range changes {
		folder := strings.HasSuffix(changes[i].Path, "/")
		changes[i].Path = fromBase(p.base(), changes[i].Path)
		if folder {
			changes[i].Path += "/"
		}
	}
	return changes
}

// maxNamed is how many files a notice names.
const maxNamed = 20

// namedNotCounted returns the first files that LastNotCounted has. A notice does not wait for a look.
func (p *Picture) namedNotCounted() (names []string) {
	changes := p.LastNotCounted()
	for _, change := range changes[:min(len(changes), maxNamed)] {
		names = append(names, plain.Line(change.Path, 200))
	}
	return names
}

// enter fills the copy, and has the checker look there from now on.
func (r *checker) enter(ctx context.Context) error {
	if !r.HasCopy() {
		return nil
	}
	r.projectPicture = r.Picture
	if err := r.lookOnce(ctx); err != nil {
		return err
	}
	if err := r.fill(ctx); err != nil {
		return err
	}
	place, look := r.place(), r.Loop.look
	r.Picture = r.in(filepath.Join(place.Copy, filepath.FromSlash(r.base())))
	r.Loop.look = look
	return r.prepareCopy(ctx)
}

// lookOnce looks what the copy is to have, unless that is known of the contents that are to be proven.
func (r *checker) lookOnce(ctx context.Context) error {
	if !r.HasCopy() || r.contents != "" && r.Loop.look != nil && r.Loop.look.ID == r.contents {
		return nil
	}
	_, err := r.look(ctx, true)
	if err != nil {
		return r.lacksCopy(ctx, "what the copy is to have cannot be told", err)
	}
	r.contents = r.Loop.look.ID
	return nil
}

// CopyError says that the copy for the checks cannot be made, as on a full disk, for which no agent can do anything.
type CopyError string

func (e CopyError) Error() string { return string(e) }

// lacksCopy returns why no check runs. That a project takes too long to be read may be the agent's doing.
func (r *checker) lacksCopy(ctx context.Context, what string, err error) error {
	what += ": " + err.Error()
	if ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
		r.noCopy = CopyError(what)
	}
	return errNotRun(what)
}

// tidyCopy removes what a check has left in the copy, before the next one.
func (r *checker) tidyCopy(ctx context.Context) error {
	if r.projectPicture == nil { // there is no copy
		return nil
	}
	if err := r.fill(ctx); err != nil {
		return err
	}
	return r.prepareCopy(ctx)
}

// changeError returns an error if a file of the copy that is not the agent's to change has changed since the copy was
// filled. The work runs as a part of a command, and could write what the command reads after it.
func (r *checker) changeError() error {
	rule := r.rule()
	changed := r.place().ChangedSince(r.filled, func(name string) bool {
		return rule.Why(name, false) == "" && len(rule.Keys(name)) == 0 || rule.InCopy(name)
	})
	if changed == "" {
		return nil
	}
	changed = plain.Line(fromBase(r.base(), changed), 200)
	return fmt.Errorf("it passed, but %s changed while it ran, which is not the agent's to change; if the check itself "+
		"writes it, ask a person to name %s in \"outputs\", and to run '%s'; if the work does, have it leave that alone",
		changed, changed, r.Loop.Call("trust"))
}

// prepareCopy prepares the copy, if it is not.
func (r *checker) prepareCopy(ctx context.Context) error {
	ran, err := r.prepare(ctx)
	if ran && err == nil {
		err = r.fill(ctx) // without what git does not ignore
	}
	return err
}

func (r *checker) fill(ctx context.Context) error {
	filled, err := r.place().Fill(ctx, r.Loop.look, r.inCopy(), r.filled)
	if err != nil {
		return r.lacksCopy(ctx, "the copy for the checks cannot be made", err)
	}
	if r.Config.Git {
		r.assumeUnchanged(ctx)
	}
	r.filled = filled
	return nil
}

// assumeUnchanged has git take the folders of loops and runs for unchanged: the copy has little more of them than the
// list, and an agent may have committed all. The copy may have no repository.
func (r *checker) assumeUnchanged(ctx context.Context) {
	git := func(names []byte, args ...string) []byte {
		c := proc.Git(r.Loop.environ(), r.place().Copy, args...)
		c.Stdin = names
		out, _ := proc.GitOutput(ctx, c, args[0])
		return out
	}
	names := git(nil, "ls-files", "-z", "--", path.Join(r.base(), loopdir.Below), path.Join(r.base(), loopdir.RunFolder))
	if len(names) > 0 {
		git(names, "update-index", "--assume-unchanged", "-z", "--stdin")
	}
}

// inCopy returns what the copy is to have beside what counts: the list as it is in the project, and ralph.json as it
// was trusted. The loop's other files are for the agent to write.
func (r *checker) inCopy() proof.Contents {
	p := r.projectPicture
	list, _ := features.SplitTag(p.ListPath())
	files := map[string][]byte{}
	inCopy := func(file string) (name string, local bool) {
		name, err := filepath.Rel(p.Loop.At.Project, file)
		return path.Join(p.base(), filepath.ToSlash(name)), err == nil && filepath.IsLocal(name)
	}
	if name, local := inCopy(filepath.Join(p.Loop.At.Dir, loopdir.ConfigFile)); local {
		files[name] = []byte(p.Config.Text)
	}
	if name, local := inCopy(list); local {
		text, err := loopdir.ReadFile(p.Loop.project(), fromBase(p.base(), name), features.MaxBytes)
		if err == nil {
			files[name] = text
		}
	}
	base := p.base()
	onlyPrepared := func(folder string) bool {
		folder = fromBase(base, folder)
		return p.Config.OnlyPrepared(folder) || isLoops(folder)
	}
	return proof.Contents{
		Rules: p.Config.Rules, Base: base, Files: files, Git: p.Config.Git, OnlyPrepared: onlyPrepared,
		Settings: p.Config.Text,
	}
}

// prepare runs the commands that prepare the copy, if one of them has not run with these inputs, or if something has
// changed what they made. It reports whether they have run.
func (r *checker) prepare(ctx context.Context) (ran bool, err error) {
	if len(r.Config.Prepare) == 0 {
		return false, nil
	}
	base, inputs := r.base(), map[string]string{}
	for _, one := range r.Config.Prepare {
		needs := func(name string) bool { return one.Needs(fromBase(base, name)) }
		inputs[one.String()] = r.Loop.look.Inputs(needs)
	}
	place, contents := r.place(), r.inCopy()
	done := place.Prepared()
	if maps.Equal(done.Inputs, inputs) && place.AsPrepared(done) {
		return false, nil
	}
	if err := place.Unprepare(); err != nil {
		return false, errNotRun("what prepared the copy cannot be removed: " + err.Error())
	}
	before := place.Hidden(ctx, contents)
	for _, one := range r.Config.Prepare {
		err = r.prepareBy(ctx, one.Command)
		if err != nil {
			inputs = nil // so that it is done again
			break
		}
	}
	place.SetPrepared(ctx, contents, inputs, before)
	return true, err
}

// Prepare runs the commands of "prepare" in a work tree of InWorkTree, unless they have run there with the same inputs.
// done and the result are hashes of the inputs.
func (p *Picture) Prepare(ctx context.Context, done string) (inputs string, err error) {
	files, err := p.treeToProve().Files(ctx)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, one := range p.Config.Prepare {
		fmt.Fprintf(sum, "%q\n", one.String())
		for _, name := range files {
			if !one.Needs(filepath.ToSlash(name)) {
				continue
			}
			text, err := loopdir.ReadAny(filepath.Join(p.Loop.project(), name), checkFile)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
			fmt.Fprintf(sum, "%q %x\n", name, sha256.Sum256(text))
		}
	}
	inputs = fmt.Sprintf("%x", sum.Sum(nil))
	if inputs == done {
		return done, nil
	}
	r := &checker{Picture: p, deadline: time.Now().Add(maxSend)} // each has a time of its own
	for _, one := range p.Config.Prepare {
		if err := r.prepareBy(ctx, one.Command); err != nil {
			return "", errors.New(tail(r.prepareOutput, err.Error()))
		}
	}
	return inputs, nil
}

func (r *checker) prepareBy(ctx context.Context, c config.Command) error {
	if c.Untrusted {
		return errNotRun(noTrust + r.Loop.Call("trust"))
	}
	begin := time.Now()
	got := r.command(ctx, c, proc.Cmd{Env: r.checkEnv(), Output: checkOutput})
	outcome := "ok"
	if got.Err != nil {
		outcome = got.Err.Error()
	}
	if !r.isDry {
		r.Loop.logRan(begin, Ran{Check: "prepare " + c.String(), Outcome: outcome, ExitStatus: got.ExitCode}, nil)
	}
	if got.Err != nil {
		r.prepareOutput = got.Output
		return fmt.Errorf("the command %s, which prepares the folder of the checks: %w", c.String(), got.Err)
	}
	return nil
}

// confinedTo returns the folder to which a confined command can write.
func (p *Picture) confinedTo() string {
	if !p.HasCopy() {
		return p.Loop.project()
	}
	top := p.place().Copy
	in, err := filepath.Rel(top, p.Loop.project())
	if err != nil || !filepath.IsLocal(in) {
		return p.Loop.project() // a command that runs in the project
	}
	return top
}

// Omissions returns what of the project the baseline that was taken last does not have.
func (l *Loop) Omissions() []proof.Change { return l.omissions }

// IdleProtect returns the entries of "protect" that name nothing of a baseline, so that they protect nothing. Git may
// ignore what they are for.
func (l *Loop) IdleProtect(c config.Config, record config.Trust) (texts []string) {
	p := &Picture{Loop: l, Config: config.Effective{Config: c, Trust: record}}
	baseline, err := p.baseline()
	if err != nil {
		return nil
	}
	base := p.base()
	for _, one := range c.Protect {
		idle := !one.KeepsOut // such an entry is also for files to come
		for _, f := range baseline.Files {
			idle = idle && !one.Match(fromBase(base, f.Path))
		}
		if idle {
			texts = append(texts, one.Text)
		}
	}
	return texts
}

// TrustsFile reports whether a person has trusted a file of the project, as it was then.
func (p *Picture) TrustsFile(name string) bool {
	baseline, err := p.baseline()
	base := p.base()
	return err == nil && slices.ContainsFunc(baseline.Files, func(f *proof.File) bool {
		return fromBase(base, f.Path) == name
	})
}

// IsUntouched reports whether no session can have written what a person has not trusted yet: none has worked on the
// loop, or on another one beside it since, and nothing has changed that does not count, other than these files.
func (p *Picture) IsUntouched(ctx context.Context, but []string) bool {
	since := p.Config.BaselineAt
	top := cmp.Or(loopdir.RepoRoot(p.Loop.At.Project), p.Loop.At.Project)
	if !p.Snapshot.State.StartedAt.IsZero() || since.IsZero() || p.Loop.Env.Where().WorkedSince(since, top, p.Loop.At) {
		return false
	}
	look, err := p.look(ctx, false)
	return err == nil && !slices.ContainsFunc(p.fromProject(look.NotCounted), func(c proof.Change) bool {
		return !slices.ContainsFunc(but, func(name string) bool { return within(name, strings.TrimSuffix(c.Path, "/")) })
	})
}

// BaselineChanges returns the files that differ between what two records trust, with paths from the project on.
func (l *Loop) BaselineChanges(before, now config.Trust) ([]string, error) {
	place := l.placeOf(now.CopyDir)
	was, err := place.Baseline(before.Baseline)
	if err != nil {
		return nil, err
	}
	is, err := place.Baseline(now.Baseline)
	if err != nil {
		return nil, err
	}
	p := &Picture{Loop: l, Config: config.Effective{Trust: now}}
	names := was.Differ(is)
	for i := range names {
		names[i] = fromBase(p.base(), names[i])
	}
	return names, nil
}

// TrustedFiles returns a folder that has the files of the baseline, and no change of an agent's. It stands for the top
// of the repository, or for the project.
func (p *Picture) TrustedFiles(ctx context.Context) (string, error) {
	baseline, err := p.baseline()
	if err != nil {
		return "", err
	}
	place := p.place()
	place.Name = "trusted"
	place.Copy = siblingCopy(p.Config.CopyDir, place.Name)
	lock, err := loopdir.LockFile(filepath.Join(place.Store, "trusted.lock"), lookTime) // two processes may notify
	if err != nil {
		return "", err
	}
	_, err = place.Fill(ctx, baseline.AsTrusted(), proof.Contents{Base: p.base()}, proof.Filled{})
	return place.Copy, errors.Join(err, lock.Close())
}

// trustedProgram returns a command whose program is a file of the project, such as ./notify.sh, with the file as it was
// trusted instead. note says so if the file is another one by now.
func (p *Picture) trustedProgram(ctx context.Context, c config.Command) (runs config.Command, note string, err error) {
	name, err := p.trustedFile(ctx, c)
	if err != nil || name == "" {
		return c, "", err
	}
	trusted, err := p.TrustedFiles(ctx)
	if err != nil {
		return c, "", err
	}
	file := filepath.Join(trusted, filepath.FromSlash(name))
	was, _ := loopdir.ReadAny(file, maxProgram)
	now, err := loopdir.ReadAny(filepath.Join(p.Loop.project(), c.ProjectProgram()), maxProgram)
	if err != nil || !bytes.Equal(was, now) {
		note = "; it ran as it was trusted: " + plain.Line(c.ProjectProgram(), 200) + " has changed since"
	}
	return c.WithProgram(file), note, nil
}

const maxProgram = 16 << 20 // bytes of a program that is compared with the trusted one

// trustedFile returns the program of a command as a file of the baseline, "" if the command has none there.
func (p *Picture) trustedFile(ctx context.Context, c config.Command) (name string, err error) {
	program := c.ProjectProgram()
	if program == "" || !p.HasCopy() {
		return "", nil
	}
	baseline, err := p.baseline()
	if err != nil {
		return "", err
	}
	name = path.Join(p.base(), program)
	if baseline.Files.Find(name) != nil {
		return name, nil
	}
	return "", p.refuseLater(ctx, name)
}

// MutedNotifiers returns why notifiers do not run.
func (p *Picture) MutedNotifiers(ctx context.Context) (errs []error) {
	for _, c := range p.Config.Notifiers {
		_, err := p.trustedFile(ctx, c)
		if err != nil {
			errs = append(errs, fmt.Errorf("the notifier %s: %w", plain.Line(c.String(), 200), err))
		}
	}
	return errs
}

// refuseLater returns an error for a program that was not there at trust. What git ignores is not in the baseline and
// runs as it is, and so does what is in the loop's own folder.
func (p *Picture) refuseLater(ctx context.Context, name string) error {
	work := p.work()
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	hidden, err := work.Hidden(ctx)
	if err != nil {
		return errNotRun("what git ignores cannot be told: " + err.Error())
	}
	file := filepath.Join(work.Top, filepath.FromSlash(name))
	if within(name, hidden...) || within(filepath.ToSlash(file), filepath.ToSlash(p.Loop.At.Dir)) {
		return nil
	}
	return errNotRun(fmt.Sprintf("%s was not there when the loop was trusted; look at it, then run: %s",
		plain.Line(fromBase(p.base(), name), 200), p.Loop.Call("trust")))
}

// MissingPrograms returns the programs of notifiers that are to be files of the project and do not exist yet.
func (l *Loop) MissingPrograms(c config.Config) (names []string) {
	for _, command := range c.Notifiers {
		name := command.ProjectProgram()
		if name != "" && !slices.Contains(names, name) && !loopdir.Exists(filepath.Join(l.At.Project, name)) {
			names = append(names, name)
		}
	}
	return names
}

// pruneBaselines removes what no record needs any more.
func (l *Loop) pruneBaselines(record config.Trust) {
	if record.Baseline != "" {
		l.placeOf(record.CopyDir).Prune(record.Baseline)
	}
}
