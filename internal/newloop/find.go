package newloop

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// listNames are the names of lists, below a project's root.
var listNames = []string{loopdir.ListFile, "prd.json", ".taskmaster/tasks/tasks.json"}

// otherLists are patterns of files that may be the person's list, or be about something else. One counts if something
// in it is open.
var otherLists = []string{
	"PRD.md", "TODO.md", "TASKS.md", "docs/" + loopdir.ListFile, "docs/prd.json", "docs/PRD.md", "scripts/ralph/prd.json",
	".ralph/prd.json", "plans/prd.json", ".beads/issues.jsonl", "tasks/tasks.json", ".ralph/fix_plan.md", "@fix_plan.md",
	"specs/*/tasks.md", ".kiro/specs/*/tasks.md", "openspec/changes/*/tasks.md", "docs/plans/*.md",
}

// findList looks for the list: none of a loop with a task, the one that is named, that of a loop that is there already,
// else one in the project.
func (m *Maker) findList() error {
	if m.noList() {
		m.List = config.ListNone
		return nil
	}
	own := filepath.Join(m.Dir, loopdir.ListFile)
	switch {
	case m.List != "":
		named, err := m.namedList()
		if err != nil {
			return err
		}
		m.List = named
	case m.keepsLoop && m.loopConfig.Source.IsSet():
		m.sourced = true
		return nil
	case m.keepsLoop && m.loopConfig.List != "":
		m.List = m.loopConfig.List
	default:
		found, err := m.search()
		if err != nil {
			return err
		}
		m.List = found
	}
	switch {
	case m.List == config.ListNone:
		m.List = "./" + m.List // a file of that name
	case m.List == "" && loopdir.Exists(own):
		return m.readList(own)
	case m.List == "":
		m.found.List, m.found.Err = features.Parse([]byte(loop.ExampleList))
		return m.found.Err
	}
	return m.readList(filepath.Join(m.Project, filepath.FromSlash(m.List)))
}

// search returns the list of the project. It is "" if the loop has one in its own folder, or gets an example there.
func (m *Maker) search() (string, error) {
	if m.keepsLoop {
		return "", nil
	}
	m.unusable = nil
	found, err := m.listsIn(m.Project)
	if err != nil {
		return "", err
	}
	if near := slices.DeleteFunc(slices.Clone(found), m.isElsewhere); len(near) > 0 {
		found = near
	}
	switch {
	case len(found) == 1:
		if found[0] != loopdir.ListFile {
			fmt.Fprintf(m.Out, "the list is %s\n", plain.Line(found[0], 500))
		}
		return found[0], nil
	case len(found) > 1 && cli.CanAsk():
		return cli.Choose(m.Out, "Which list?", found)
	case len(found) > 1:
		return "", cli.Usagef("this project has the lists %s; name one: %s %s", strings.Join(found, ", "), m.ByList,
			found[0])
	case m.Example || loopdir.Exists(filepath.Join(m.Dir, loopdir.ListFile)):
		return "", nil
	}
	why := ""
	if len(m.unusable) > 0 {
		why = " (" + plain.Line(strings.Join(m.unusable, "; "), 800) + ")"
	}
	return "", cli.Usagef(`this project has no list%s; write one, such as %s with [{"id": "login", "title": "Log in", `+
		`"passes": false}], or name yours: %s FILE; ralph-stop-hook init --example makes one to try`, why,
		loopdir.ListFile, m.ByList)
}

// listsIn returns the lists of a folder, below it and with slashes: those of listNames, else those of otherLists.
func (m *Maker) listsIn(dir string) (found []string, err error) {
	for _, name := range listNames {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		switch {
		case err == nil:
			found = append(found, name)
		case !loopdir.Absent(err):
			return nil, err
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	for _, pattern := range otherLists {
		names, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are right
		for _, name := range names {
			file := filepath.Join(dir, filepath.FromSlash(name))
			list := loopdir.ReadList(file, m.reading, m.Dir, dir)
			switch {
			case list.Err != nil:
				m.unusable = append(m.unusable, name+": "+strings.TrimPrefix(list.Err.Error(), file+": "))
			case list.Passed() == len(list.Items):
				m.unusable = append(m.unusable, name+": every item is done")
			default:
				found = append(found, name)
			}
		}
	}
	return found, nil
}

// isElsewhere reports whether a list is not in a folder of the project that the working folder is in.
func (m *Maker) isElsewhere(list string) bool {
	cwd, err := WorkingFolder()
	if err != nil {
		return true
	}
	below, err := filepath.Rel(filepath.Join(m.Project, filepath.FromSlash(path.Dir(list))), cwd)
	return err != nil || path.Dir(list) == "." || !filepath.IsLocal(below)
}

// namedList returns the path of the list that a person names, with its tag, below the project.
func (m *Maker) namedList() (string, error) {
	rel, _ := features.SplitTag(m.List)
	tag := m.List[len(rel):]
	if filepath.IsAbs(rel) {
		real, err := filepath.EvalSymlinks(rel)
		if err != nil {
			return "", err
		}
		rel, err = filepath.Rel(m.Project, real)
		if err != nil {
			return "", err
		}
	}
	if !filepath.IsLocal(rel) {
		return "", fmt.Errorf("the list %s is not below this folder; run this in the folder that holds it", m.List)
	}
	return filepath.ToSlash(filepath.Clean(rel)) + tag, nil
}

func (m *Maker) readList(path string) error {
	m.reading.Now = time.Now()
	m.found = loopdir.ReadList(path, m.reading, m.Dir, m.Project)
	return m.found.Err
}

// WorkingFolder returns the working folder, with its links resolved.
func WorkingFolder() (string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(cwd)
}

// projectFolder returns the project, if nobody has settled it: the working folder or, in a subfolder of a repository
// that has neither a list nor a loop, the nearest folder above that has.
func (m *Maker) projectFolder() (string, error) {
	if m.Project != "" {
		return m.Project, nil
	}
	cwd, err := WorkingFolder()
	root := loopdir.RepoRoot(cwd)
	if err != nil || m.List+m.Task.Line != "" || root == "" {
		return cwd, err
	}
	for dir := cwd; ; dir = filepath.Dir(dir) {
		lists, _ := m.listsIn(dir) // findList says what is wrong there
		if len(lists) > 0 || loopdir.Exists(filepath.Join(dir, loopdir.Below)) {
			if dir != cwd {
				fmt.Fprintf(m.Out, "the project is %s, which has the list or the loops\n", plain.Line(dir, 4096))
			}
			return dir, nil
		}
		if dir == root || dir == m.Env.Home {
			return cwd, nil
		}
	}
}

// FindOrMake returns the loop that a person names: by its name, or by its list; without words the current one. If there
// is none, it has make make the loop of m, which is for that list, and returns nil. So it does if only the loop's
// folder is gone: a person who deletes that and types the same again wants the loop back.
func (m *Maker) FindOrMake(words []string, make func() error) (*loopdir.Loop, error) {
	if len(words) > 0 && filepath.Clean(words[0]) == "." && words[0] != "" {
		words = nil
	}
	at, err := m.Find(words)
	switch {
	case at != nil && at.Restorable():
		m.Name, m.Project = at.Name, at.Project
		return nil, make()
	case err == nil || len(words) == 0 && !errors.Is(err, verb.ErrNoLoop):
		return at, err
	case len(words) == 0:
		return nil, make()
	}
	list := words[0]
	if info, missing := os.Stat(list); missing == nil && info.IsDir() {
		list, err = m.listOf(list)
		if err != nil {
			return nil, err
		}
	}
	file, _ := features.SplitTag(list)
	info, missing := os.Stat(file)
	switch {
	case errors.Is(missing, fs.ErrNotExist) && (filepath.Ext(file) != "" || file != "" && filepath.Base(file) != file):
		return nil, noFile(file)
	case missing != nil || !info.Mode().IsRegular():
		return nil, err
	}
	m.Project, err = WorkingFolder()
	if err != nil {
		return nil, err
	}
	m.List = list
	m.List, err = m.namedList()
	if err != nil {
		return nil, err
	}
	for at := range m.working() {
		return at, nil
	}
	for _, name := range m.names(file) {
		m.Name = name
		if !loopdir.Exists(filepath.Join(m.Project, loopdir.Below, name)) {
			break // else that name is another list's
		}
	}
	return nil, make()
}

// names returns names for the loop of a list, the best first: those of its folder and of the way to that, and that of
// the file. For packages/web/prd.json they are web, packages-web and prd.
func (m *Maker) names(file string) []string {
	folder := m.listFolder()
	way, err := filepath.Rel(m.Project, folder)
	if err != nil || way == "." {
		way = filepath.Base(folder)
	}
	way = strings.ReplaceAll(way, string(filepath.Separator), "-")
	return []string{defaultName(folder), defaultName(way), defaultName(strings.TrimSuffix(file, filepath.Ext(file)))}
}

// listOf returns the list of a folder that a person names.
func (m *Maker) listOf(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	found, err := m.listsIn(path)
	name := plain.Arg(filepath.Clean(dir))
	switch {
	case err != nil:
		return "", err
	case loopdir.Exists(filepath.Join(dir, loopdir.Below)):
		return "", cli.Usagef("the folder %s has loops of its own; to work on them: cd %s", name, name)
	case len(found) == 0:
		return "", cli.Usagef("the folder %s has no list; name the list: %s FILE", name, m.ByList)
	case len(found) > 1:
		return "", cli.Usagef("the folder %s has the lists %s; name one: %s %s", name, strings.Join(found, ", "), m.ByList,
			plain.Arg(filepath.Join(dir, found[0])))
	}
	return filepath.Join(dir, found[0]), nil
}

// listFolder returns the folder to which the list belongs that a person names: packages/web for
// packages/web/docs/prd.json. It is the project if the file has no name of a list.
func (m *Maker) listFolder() string {
	file, _ := features.SplitTag(m.List)
	all := strings.Split(filepath.ToSlash(file), "/")
	most := 0
	for _, pattern := range slices.Concat(listNames, otherLists) {
		n := strings.Count(pattern, "/") + 1
		if n <= len(all) && n > most {
			if is, _ := path.Match(pattern, path.Join(all[len(all)-n:]...)); is {
				most = n
			}
		}
	}
	if most == 0 {
		return m.Project
	}
	return filepath.Join(m.Project, filepath.Join(all[:len(all)-most]...))
}

// noFile refuses a word that is neither a loop nor a file, and reads as a file's name.
func noFile(file string) error {
	var names []string
	entries, _ := os.ReadDir(filepath.Dir(file))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	name := plain.Line(file, 200)
	if near := jsontext.Nearest(filepath.Base(file), names); near != "" {
		return fmt.Errorf("no file %s, and no loop of that name; did you mean %s?", name,
			plain.Line(filepath.Join(filepath.Dir(file), near), 200))
	}
	return fmt.Errorf("no file %s, and no loop of that name; 'ralph-stop-hook status --all' lists the loops", name)
}

// working returns the loops that are there for the list, each with its status.
func (m *Maker) working() iter.Seq2[*loopdir.Loop, decide.Status] {
	where := m.Env.Where()
	where.Cwd = m.Project
	loops, _ := where.All() // what cannot be read is not at work
	path := (&loopdir.Loop{Dir: m.Dir, Project: m.Project}).ListPath(m.List, "")
	return func(yield func(*loopdir.Loop, decide.Status) bool) {
		for _, at := range loops {
			if at.Dir == m.Dir || at.Check() != nil {
				continue
			}
			l, err := loop.Open(m.Env, at)
			if err != nil {
				continue
			}
			p, err := l.Look()
			l.Close()
			same := err == nil && !p.Config.Source.IsSet() && p.ListPath() == path
			if same && !yield(at, p.Snapshot.Record().Status) {
				return
			}
		}
	}
}

// warnOfOthers warns of other loops that work the same list: their sessions would claim the
// same features.
func (m *Maker) warnOfOthers() {
	for at, status := range m.working() {
		if status.GoesOn() {
			fmt.Fprintf(m.Out, "warning: the loop %s works on this list too, and their sessions would do the same "+
				"features; to end that one: %s\n", plain.Line(at.Name, 100), m.Env.Call("cancel", at.Name))
		}
	}
}
