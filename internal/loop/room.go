package loop

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/locked"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/room"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// With "room" checks run in a folder of the loop's own, outside of the project. It has what a person has trusted, and
// of the changes since then only those that the agent may make.

// HasRoom reports whether checks run in a room.
func (p *Picture) HasRoom() bool { return p.Config.RoomTree != "" }

// Room returns the loop's room.
func (p *Picture) Room() room.Room { return p.Loop.room(p.Config.RoomDir) }

func (l *Loop) room(dir string) room.Room {
	return room.Room{Git: filepath.Join(l.At.StatePath(), "room.git"), Env: l.environ(), Dir: dir}
}

// base returns the project as a path from the top of the room's tree on, separated by slashes.
func (p *Picture) base() string {
	top := filepath.Join(p.Loop.At.Project, filepath.FromSlash(p.Config.RoomTop))
	base, err := filepath.Rel(top, p.Loop.At.Project)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(base)
}

// fromBase returns a path from the top on as one from the project.
func fromBase(base, name string) string {
	rel, err := filepath.Rel(filepath.FromSlash(base), filepath.FromSlash(name))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// ignoreRules returns the texts of the .gitignore files that are in force. A room honours them in a project without a
// repository, too.
func (l *Loop) ignoreRules(c config.Config) map[string]string {
	t := l.tree(l.environ())
	if c.Room {
		t.Top = cmp.Or(t.Top, t.Dir)
	}
	return t.IgnoreRules(context.Background())
}

// trustRoom records what the project has now as what is trusted.
func (l *Loop) trustRoom(c config.Config, record *config.Trust) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf(loopdir.ConfigFile+`: "room": `+format, args...)
	}
	search, _ := proc.Outside(record.SearchPath, l.At.Project)
	if _, err := proc.LookPath("git", search); err != nil {
		return refuse("it needs git, and PATH has none; install it, or take the key out")
	}
	if l.Env.CacheDir == "" || !loopdir.Protects(l.Env.CacheDir, l.At.Project) {
		return refuse("the cache folder %q is not outside of the project; set XDG_CACHE_HOME or HOME", l.Env.CacheDir)
	}
	if !loopdir.Protects(l.At.StatePath(), l.At.Project) {
		return refuse("%w", loopdir.ErrUnprotected)
	}
	if name := namesProject(c, l.At.Project); name != "" {
		return refuse("the check %s names the project by its whole path, so it would not look at the room; "+
			"name files from the project's folder on", name)
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
	p.Config.RoomTop = filepath.ToSlash(rel)
	rooms := loopdir.RoomFolder(l.Env.CacheDir, filepath.Base(l.At.StatePath()))
	p.Config.RoomDir = filepath.Join(rooms, filepath.Base(top))
	for _, folder := range c.Share {
		folder = path.Clean(folder)
		if info, err := os.Stat(filepath.Join(l.At.Project, filepath.FromSlash(folder))); err == nil && info.IsDir() {
			p.Config.Shared = append(p.Config.Shared, folder)
		}
	}
	now, err := p.snapshot(context.Background(), "")
	if err != nil {
		return refuse("%w", err)
	}
	proof, err := p.Room().Prove(context.Background(), now.Tree, now.Tree, p.rule())
	if err != nil {
		return refuse("%w", err)
	}
	record.RoomTree = now.Tree
	record.RoomTop = p.Config.RoomTop
	record.RoomDir = p.Config.RoomDir
	record.Shared = p.Config.Shared
	proof.Left = append(now.Left, proof.Left...)
	l.proof = &proof
	return nil
}

// work is the tree of the project as it is now.
func (p *Picture) work() tree.Tree {
	t := p.treeToProve()
	t.Top = filepath.Join(p.Loop.project(), filepath.FromSlash(p.Config.RoomTop))
	if t.Rules == nil {
		t.Rules = map[string]string{} // what an agent writes does not hide files
	}
	return t
}

// lent returns the paths of the lent folders, from the top on.
func (p *Picture) lent() (names []string) {
	for _, folder := range p.Config.Shared {
		names = append(names, path.Join(p.base(), folder))
	}
	return names
}

func (p *Picture) snapshot(ctx context.Context, trusted string) (room.Snapshot, error) {
	return p.Room().Snapshot(ctx, p.work(), trusted, p.lent())
}

// roomTime is how long a look at the room, or at other work trees, may take.
const roomTime = time.Minute

// LookAtRoom finds out what checks would see now, and what they would not.
func (p *Picture) LookAtRoom(ctx context.Context) (room.Proof, error) {
	ctx, cancel := context.WithTimeout(ctx, roomTime)
	defer cancel()
	now, err := p.snapshot(ctx, p.Config.RoomTree)
	if err != nil {
		return room.Proof{}, err
	}
	proof, err := p.Room().Prove(ctx, p.Config.RoomTree, now.Tree, p.rule())
	if err != nil {
		return proof, err
	}
	proof.Left = slices.Concat(now.Left, proof.Left, p.stillIgnored(ctx, proof))
	p.Loop.files = &now.Seen
	p.Loop.proof = &proof
	return proof, nil
}

// stillIgnored returns what git ignored at trust and does not ignore any more: the agent has changed a .gitignore.
func (p *Picture) stillIgnored(ctx context.Context, proof room.Proof) (left []room.Change) {
	if !proof.Rules {
		return nil
	}
	t := p.work()
	trusted, err := t.Entries(ctx, nil)
	if err != nil {
		return nil
	}
	t.Rules = nil
	now, err := t.Entries(ctx, nil)
	known := map[string]bool{}
	for _, e := range trusted.List {
		known[e.Path] = true
	}
	for _, e := range now.List {
		if err == nil && !known[e.Path] && !e.Ignored && len(left) < maxNotUsed {
			left = append(left, room.Change{Path: e.Path, Why: "git ignored it at 'trust'"})
		}
	}
	return left
}

// ignored returns what git ignored at trust and the room does not have, from the project on.
func (p *Picture) ignored(ctx context.Context) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, roomTime)
	defer cancel()
	hidden, _ := p.work().Hidden(ctx)                    // of what cannot be read a room says more
	trusted, _ := p.Room().Files(ctx, p.Config.RoomTree) // some of that is ignored
	for _, name := range hidden {
		file := fromBase(p.base(), name)
		_, known := slices.BinarySearch(trusted, name)
		if !known && !strings.HasPrefix(file, "../") && !within(file, p.Config.Shared...) {
			names = append(names, file)
		}
	}
	return names
}

// within reports whether a path is that of one of these folders, or below it.
func within(name string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool { return strings.HasPrefix(name+"/", dir+"/") })
}

// IgnoredWork returns what "work" names and git ignored at trust, but for what tools make: it is not in the room. It
// returns nothing without "work".
func (p *Picture) IgnoredWork(ctx context.Context) (names []string) {
	if !p.HasRoom() || len(p.Config.Work) == 0 {
		return nil
	}
	for _, file := range p.ignored(ctx) {
		info, err := os.Lstat(filepath.Join(p.Loop.At.Project, filepath.FromSlash(file)))
		switch {
		case err != nil:
		case info.IsDir() && p.Config.WorkBelow(file) && !locked.MadeAnew(file, true):
			names = append(names, file+"/")
		case !info.IsDir() && p.Config.IsWork(file) && !config.BuildFile(file):
			names = append(names, file)
		}
	}
	return names
}

// lacks says what commands may not find: programs in folders of PATH that lie in the project; and in a room the
// packages, and the files named by checks, that git ignores.
func (p *Picture) lacks(ctx context.Context) (lines []string) {
	if left := p.Loop.pathInside(p.Config.SearchPath); left != "" {
		lines = append(lines, left)
	}
	if !p.HasRoom() || len(p.Config.Prepare) > 0 {
		return lines
	}
	has := map[string]bool{}
	files, _ := p.Room().Files(ctx, p.Config.RoomTree)
	for _, name := range files {
		has[fromBase(p.base(), name)] = true
	}
	var needs, names []string
	for _, check := range p.Config.Checks {
		for _, w := range check.Command.Words() {
			need := path.Clean(locked.Below(p.Loop.At.Project, p.Loop.Env.Home, w.Text))
			if !w.Late && !w.Looked && !has[need] {
				needs = append(needs, need)
			}
		}
	}
	for _, file := range p.ignored(ctx) {
		named := slices.ContainsFunc(needs, func(need string) bool { return within(need, file) })
		for at := file; at != "."; at = path.Dir(at) {
			if slices.Contains(packages, path.Base(at)) { // it may say itself that git ignores what is in it
				named, file = true, at
			}
		}
		if named && !slices.Contains(names, file) {
			names = append(names, file)
		}
	}
	if len(names) > 0 {
		lines = append(lines, "not in the room, since git ignores it: "+decide.Names(names)+
			`; let git track it, or make it in "prepare" of `+loopdir.ConfigFile+
			`; a folder that the agent may change can also be in "share"`)
	}
	return lines
}

// packages are folders that package managers fill.
var packages = []string{"node_modules", ".venv", "venv"}

// rule says which changes count.
func (p *Picture) rule() room.Rule {
	c := &p.Config
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %v %v %q %q", c.Text, c.Files, c.Shared, c.Targets, c.Included) // maps are printed in order
	parts := map[string][]string{}                                                       // keys of parts of files
	for key := range c.Files {
		if file := locked.File(key); file != key {
			parts[file] = append(parts[file], key)
		}
	}
	base := p.base()
	return room.Rule{Name: fmt.Sprintf("%x", sum.Sum(nil)), Lent: p.lent(), Why: func(e room.Edit) string {
		name := fromBase(base, e.Path)
		_, isLocked := c.Files[name]
		npm := path.Base(name) == config.PackageJSON
		changed := func(key string) bool { return locked.Changed(p.Loop.project(), key, c.Files[key]) }
		switch {
		case len(c.Work) > 0 && (strings.HasPrefix(name, "../") || !c.IsWork(name)):
			return `"work" does not name it`
		case c.Protects(name) && (!e.Added() || c.ProtectNew):
			return `"protect" names it`
		case isLocked:
			return "it is locked"
		case len(c.Work) > 0 && e.Added() && odd(name):
			return "a shell could take its name for more than a name; it may have letters, digits and ._-+@~,()[], " +
				"$ before a small letter or a dot, and no - at the beginning"
		case len(c.Work) > 0 && e.Stray && !c.SpellsAll(name):
			return `a link that leads to no file of the agent's counts only if "work" names its whole path`
		case locked.IsTarget(c.Targets, name):
			return "a makefile has a target of that name, which make would take for done; " +
				"if a person makes the target .PHONY, the file counts"
		case slices.ContainsFunc(parts[name], changed):
			return "a locked part of it has changed"
		case !c.Builds(name) && !locked.IsIncluded(c.Included, name):
			return ""
		case len(c.Work) == 0 && !npm:
			return "it is a build file, which counts as it was at 'trust'"
		case !c.Spells(name) && !config.BuildFile(name) && !locked.IsIncluded(c.Included, name):
			return `it is a lock file, or settings in the project's root, which "work" has to name by its whole name`
		case len(c.Work) > 0 && !c.Spells(name):
			return `it is a build file, which "work" has to name by its whole name`
		case npm && !p.sameScripts(e):
			return "a trusted script of it has changed, or one was added that runs by itself"
		case e.Added() && !c.SpellsAll(name):
			return `it is a new build file, of which "work" has to name the whole path`
		case e.Added() && npm && !locked.NewPackage(p.Room().Text(context.Background(), e.Is)):
			return "a new package.json may only describe its package and what it needs from a registry"
		case !e.Added() && !p.onlyNeeds(e):
			return "more has changed than what it requires, or that comes from elsewhere now"
		}
		return ""
	}}
}

// odd reports whether a name could be a command, a flag or several words where a makefile or a script hands it to a
// shell. Routes have names such as $id.tsx and files.$.tsx; variables whose value has spaces (IFS, PS4) have capital
// letters.
func odd(name string) bool {
	for i, r := range name {
		if r == '$' {
			r, _ = utf8.DecodeRuneInString(name[i+1:])
			if !unicode.IsLower(r) && r != '.' {
				return true
			}
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@~,()[]", r) {
			return true
		}
	}
	return strings.Contains("/"+name, "/-")
}

// sameScripts reports whether a package.json has the scripts that were trusted, as it must also in the project.
func (p *Picture) sameScripts(e room.Edit) bool {
	scripts := func(id string) (string, error) {
		text := p.Room().Text(context.Background(), id)
		if text == nil {
			return "", nil // there is no such file
		}
		return locked.TextScripts(text)
	}
	was, err := scripts(e.Was)
	is, now := scripts(e.Is)
	return now == nil && (err != nil || locked.SameScripts(was, is))
}

// onlyNeeds reports whether an edit of a manifest changes nothing but what the project needs, as far as the manifest's
// format is known.
func (p *Picture) onlyNeeds(e room.Edit) bool {
	text := func(id string) []byte { return p.Room().Text(context.Background(), id) }
	only, known := locked.OnlyNeeds(e.Path, text(e.Was), text(e.Is))
	return only || !known
}

// NotUsed returns what the checks do not see as it is in the project, with paths from the project on. It looks, unless
// this process has looked before.
func (p *Picture) NotUsed(ctx context.Context) []room.Change {
	if !p.HasRoom() {
		return nil
	}
	if p.Loop.proof == nil {
		if _, err := p.LookAtRoom(ctx); err != nil {
			return nil
		}
	}
	return p.fromProject(p.Loop.proof.Left)
}

// LastNotUsed is NotUsed as it was when somebody looked last.
func (p *Picture) LastNotUsed() []room.Change {
	if !p.HasRoom() {
		return nil
	}
	if p.Loop.proof == nil {
		return p.fromProject(p.Room().Last(p.Config.RoomTree))
	}
	return p.fromProject(p.Loop.proof.Left)
}

// fromProject returns changes with paths from the project on, without a folder that is new and has the loop's own.
func (p *Picture) fromProject(left []room.Change) []room.Change {
	own, _ := filepath.Rel(p.base(), p.Loop.At.Dir)
	left = slices.DeleteFunc(slices.Clone(left), func(c room.Change) bool {
		return strings.HasSuffix(c.Path, "/") && strings.HasPrefix(filepath.ToSlash(own)+"/", c.Path)
	})
	for i := range left {
		folder := strings.HasSuffix(left[i].Path, "/")
		left[i].Path = fromBase(p.base(), left[i].Path)
		if folder {
			left[i].Path += "/"
		}
	}
	return left
}

// maxNotUsed is how many files a notice names.
const maxNotUsed = 20

// lastNotUsed returns the first files that LastNotUsed names. A notice does not wait for a look.
func (p *Picture) lastNotUsed() (names []string) {
	left := p.LastNotUsed()
	for _, change := range left[:min(len(left), maxNotUsed)] {
		names = append(names, plain.Line(change.Path, 200))
	}
	return names
}

// enter fills the room, and has the checker look there from now on.
func (r *checker) enter(ctx context.Context) error {
	if !r.HasRoom() {
		return nil
	}
	id := r.contents
	if id == "" {
		proof, err := r.LookAtRoom(ctx)
		if err != nil {
			return errNotRun("what the room is to have cannot be told: " + err.Error())
		}
		id = proof.Tree
	}
	r.inside = id
	if err := r.fill(ctx, id); err != nil {
		return err
	}
	r.Picture = r.in(filepath.Join(r.Room().Dir, filepath.FromSlash(r.base())))
	return r.prepared(ctx, id)
}

// tidyRoom removes what a check has left in the room, before the next one.
func (r *checker) tidyRoom(ctx context.Context) error {
	if err := r.fill(ctx, r.inside); err != nil {
		return err
	}
	return r.prepared(ctx, r.inside)
}

// wrote returns an error if a file of the room that is not the agent's to change has changed since the room was filled.
// The work runs as a part of a command, and could write what the command reads after it.
func (r *checker) wrote(ctx context.Context) error {
	if !r.HasRoom() {
		return nil
	}
	files, err := r.Room().Files(ctx, r.inside)
	if err != nil {
		return errNotRun(err.Error())
	}
	base := r.base()
	changed := r.Room().ChangedSince(files, r.filled, r.besideTree(), func(file string) bool {
		name := fromBase(base, file)
		_, isLocked := r.Config.Files[name]
		return r.Config.Grants(name) && !isLocked
	})
	for key, sum := range r.Config.Files {
		if changed == "" && locked.File(key) != key && locked.Changed(r.Loop.project(), key, sum) {
			changed = path.Join(base, locked.File(key))
		}
	}
	if changed == "" {
		return nil
	}
	changed = plain.Line(fromBase(base, changed), 200)
	return fmt.Errorf("it passed, but %s changed while it ran, which is not the agent's to change; if the check itself "+
		"writes it, ask a person to have it write elsewhere, or to name %s in \"work\", and to run '%s'; if the work "+
		"does, have it leave that alone", changed, changed, r.Loop.Call("trust"))
}

// prepared prepares the room, if it is not.
func (r *checker) prepared(ctx context.Context, id string) error {
	ran, err := r.prepare(ctx, id)
	if ran && err == nil {
		err = r.fill(ctx, id) // without what git does not ignore
	}
	return err
}

func (r *checker) fill(ctx context.Context, id string) error {
	at, err := r.Room().Fill(ctx, r.inRoom(id))
	if err != nil {
		return errNotRun("the room cannot be filled: " + err.Error())
	}
	r.filled = at
	return nil
}

// inRoom returns what the room is to have with a tree.
func (p *Picture) inRoom(id string) room.Contents {
	lent := map[string]string{}
	for i, name := range p.lent() {
		lent[name] = filepath.Join(p.Loop.At.Project, filepath.FromSlash(p.Config.Shared[i]))
	}
	return room.Contents{Tree: id, Trusted: p.Config.RoomTree, Rules: p.Config.Rules, Base: p.base(), Lent: lent,
		Files: p.besideTree()}
}

// besideTree returns the files that are no part of what is proven, and that checks may read: the list as it is in the
// project, and ralph.json as it was trusted. The loop's other files are for the agent to write.
func (p *Picture) besideTree() map[string][]byte {
	list, _ := features.Named(p.ListPath())
	files := map[string][]byte{}
	inRoom := func(file string) (name string, local bool) {
		name, err := filepath.Rel(p.Loop.At.Project, file)
		return path.Join(p.base(), filepath.ToSlash(name)), err == nil && filepath.IsLocal(name)
	}
	if name, local := inRoom(filepath.Join(p.Loop.At.Dir, loopdir.ConfigFile)); local {
		files[name] = []byte(p.Config.Text)
	}
	if name, local := inRoom(list); local {
		text, err := loopdir.ReadFile(p.Loop.At.Project, fromBase(p.base(), name), features.MaxBytes)
		if err == nil {
			files[name] = text
		}
	}
	return files
}

// prepare runs the commands that prepare the room, if one of them has not run with these inputs, or if something has
// changed what they made. It reports whether they have run.
func (r *checker) prepare(ctx context.Context, id string) (ran bool, err error) {
	if len(r.Config.Prepare) == 0 {
		return false, nil
	}
	base, inputs := r.base(), map[string]string{}
	for _, one := range r.Config.Prepare {
		needs := func(name string) bool { return one.Needs(fromBase(base, name)) }
		sum, err := r.Room().Inputs(ctx, id, needs)
		if err != nil {
			return false, errNotRun(err.Error())
		}
		inputs[one.String()] = sum
	}
	done := r.Room().Prepared()
	if maps.Equal(done.Inputs, inputs) && r.Room().AsPrepared(done) {
		return false, nil
	}
	if err := r.Room().Unprepare(); err != nil {
		return false, errNotRun("what prepared the room cannot be removed: " + err.Error())
	}
	contents := r.inRoom(id)
	before := r.Room().Hidden(ctx, contents)
	for _, one := range r.Config.Prepare {
		err = r.prepareBy(ctx, one.Command)
		if err != nil {
			inputs = nil // so that it is done again
			break
		}
	}
	r.Room().SetPrepared(ctx, contents, inputs, before)
	return true, err
}

// Prepare runs the commands of "prepare" in a work tree of Beside, unless they have run there with the same inputs.
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
			if one.Needs(filepath.ToSlash(name)) {
				fmt.Fprintf(sum, "%q %s\n", name, locked.Sum(p.Loop.project(), filepath.ToSlash(name)))
			}
		}
	}
	inputs = fmt.Sprintf("%x", sum.Sum(nil))
	if inputs == done {
		return done, nil
	}
	r := &checker{Picture: p, deadline: time.Now().Add(maxSend)} // each has a time of its own
	for _, one := range p.Config.Prepare {
		if err := r.prepareBy(ctx, one.Command); err != nil {
			return "", errors.New(tail(r.said, err.Error()))
		}
	}
	return inputs, nil
}

func (r *checker) prepareBy(ctx context.Context, c config.Command) error {
	if c.Untrusted {
		return errNotRun(noTrust + r.Loop.Call("trust"))
	}
	if changed := r.ChangedOf(c); len(changed) > 0 {
		return errNotRun(decide.Differs(changed))
	}
	begin := time.Now()
	got := r.command(ctx, c, proc.Cmd{Env: r.checkEnv(), Output: checkOutput})
	outcome := "ok"
	if got.Err != nil {
		outcome = got.Err.Error()
	}
	r.Loop.logRan(begin, Ran{Check: "prepare " + c.String(), Outcome: outcome, ExitStatus: got.ExitCode}, nil)
	if got.Err != nil {
		r.said = got.Output
		return fmt.Errorf("the command %s, which prepares the folder of the checks: %w", c.String(), got.Err)
	}
	return nil
}

// confinedTo returns the folder to which a confined command can write.
func (p *Picture) confinedTo() string {
	if !p.HasRoom() {
		return p.Loop.project()
	}
	in, err := filepath.Rel(p.Room().Dir, p.Loop.project())
	if err != nil || !filepath.IsLocal(in) {
		return p.Loop.project() // a tracker's command, which runs there
	}
	return p.Room().Dir
}

// ResetRoom removes the room, so that the next check makes it anew.
func (p *Picture) ResetRoom() error {
	return p.Loop.Store.Locked(LockWait, p.Room().Reset)
}

// LeftOut returns what of the project is not in the room, if a person trusts it as it was recorded last.
func (l *Loop) LeftOut(c config.Config, record config.Trust) []room.Change {
	p := &Picture{Loop: l, Config: config.Effective{Config: c, Trust: record, Trusted: true}}
	return p.NotUsed(context.Background())
}

// Lacks says what commands may not find, if a person trusts them as recorded.
func (l *Loop) Lacks(c config.Config, record config.Trust) (lines []string) {
	p := &Picture{Loop: l, Config: config.Effective{Config: c, Trust: record, Trusted: true}}
	if len(c.Commands()) == 0 {
		return nil
	}
	return p.lacks(context.Background())
}

// RoomChanges returns the files that differ between what two records trust, with paths from the project on.
func (l *Loop) RoomChanges(before, now config.Trust) ([]string, error) {
	paths, err := l.room(now.RoomDir).Differ(context.Background(), before.RoomTree, now.RoomTree)
	p := &Picture{Loop: l, Config: config.Effective{Trust: now}}
	for i := range paths {
		paths[i] = fromBase(p.base(), paths[i])
	}
	return paths, err
}
