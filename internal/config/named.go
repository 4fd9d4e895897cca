package config

import (
	"path"
	"slices"
	"strings"
)

// File is what a command may depend on: a file, or files.
type File struct {
	Path    string // slash-separated, relative to the project's root, absolute, or below "~/"
	Decides bool   // its presence decides what the command does: a script, a Makefile. It counts even if it is absent
	Looked  bool   // the operand of a program that only looks at it
	Built   bool   // a program before it in the line may build it
	Pattern bool   // Path is a pattern as of path.Match. With Decides, the files that match are run
	Quiet   bool   // it may not be a file at all: a folder of that name is ignored
	Set     Set    // not the file, but which files of this set exist in the folder Path
	Section bool   // only what Section returns of it
	Beside  bool   // Path is a name: of the files of this name, those beside or above held tests
}

// PackageJSON is the name of a file in which only the scripts decide what a command does. An agent
// may have to edit the rest.
const PackageJSON = "package.json"

// MaxPackageJSON is the largest size of a package.json in bytes. Real ones reach some 100 KB.
const MaxPackageJSON = 4 << 20

// Named is what a command names.
type Named struct {
	Files   []File
	Scripts []string // names of package.json scripts, with those that run beside them
	Makes   []Make
	Open    []string // what it runs that its text does not show, as it is written there
}

// Make is a call of make.
type Make struct {
	Dir   string   // it runs there; a path as that of a File
	Files []string // makefiles that it may read, likewise
	Args  []string
}

// Named returns what the command may depend on: all of its words, and the files that its programs
// read without being told. The same file may come twice, and many words are not files. Files that
// the command itself writes are left out.
func (c Command) Named() Named { return c.NamedIn("", false) }

// NamedIn is Named for a command that begins in a folder. built: a program that builds files has
// run before it.
func (c Command) NamedIn(dir string, built bool) Named {
	left := maxNamed
	if dir == "." {
		dir = ""
	}
	n := namer{dir: dir, built: built, made: map[string]bool{}, left: &left}
	if c.Shell != "" {
		n.line(splitShell(c.Shell))
	} else {
		s := simple{}
		for _, arg := range c.Argv {
			s.words = append(s.words, literal(arg))
		}
		n.line([]simple{s})
	}
	n.Files = slices.DeleteFunc(n.Files, func(f File) bool { return n.isMade(f.Path) && !f.Section && f.Set == "" })
	if n.unnamed {
		for i := range n.Files {
			n.Files[i].Looked = false // what only looks at a file may hand it to a shell
		}
	}
	return n.Named
}

// namer collects what a line names.
type namer struct {
	Named
	dir     string          // where the line has changed to
	built   bool            // a program that builds files has run
	makes   bool            // and one that writes a Makefile
	guess   bool            // the line may be no shell line
	unnamed bool            // something runs whose text is elsewhere in the line
	made    map[string]bool // what the line writes
	depth   int
	left    *int // words that may still be looked at
}

func (n *namer) isMade(p string) bool {
	for ; p != "." && p != "/" && p != ""; p = path.Dir(p) {
		if n.made[p] {
			return true
		}
	}
	return false
}

// maxName is the longest name of a file, in bytes.
const maxName = 4096

// add adds a file that a word names, as it is found from the folder that the line is in.
func (n *namer) add(name string, f File) {
	if name == "" || len(name) > maxName || strings.Contains(name, unknown) {
		return
	}
	f.Built, f.Decides = f.Built || n.built, f.Decides && !n.guess
	f.Looked = f.Looked || !f.Decides && Manifest(name)
	if path.IsAbs(name) || strings.HasPrefix(name, "~/") {
		f.Path = clean(name)
	} else {
		if n.dir != "" && !f.Decides {
			there := f
			there.Path = clean(name)
			n.Files = append(n.Files, there) // the cd may be over by then
		}
		if f.Path = n.at(name); strings.Contains(n.dir, unknown) {
			return
		}
	}
	n.Files = append(n.Files, f)
}

// at returns the path of a name in the folder that the line is in.
func (n *namer) at(name string) string {
	if n.dir != "" && !path.IsAbs(name) && !strings.HasPrefix(name, "~/") {
		name = n.dir + "/" + name
	}
	return clean(name)
}

// clean is path.Clean but for "a/..": if a is a link, that is not where a is.
func clean(p string) string {
	if strings.Contains(p, "../") {
		var parts []string
		for part := range strings.SplitSeq(p, "/") {
			if part != "" && part != "." || len(parts) == 0 && part == "" {
				parts = append(parts, part)
			}
		}
		return strings.Join(parts, "/")
	}
	return path.Clean(p)
}

func (n *namer) file(w word, f File) {
	for _, other := range w.or {
		n.file(other, f)
	}
	switch {
	case w.open() && (!f.Decides || strings.Trim(path.Base(w.pattern), "*?.") == ""):
	case w.open() || w.glob && !badPattern(w.pattern):
		f.Pattern = true
		n.add(w.pattern, f)
	default:
		n.add(w.text, f)
	}
}

func (n *namer) open(s simple) {
	n.unnamed = true
	n.tell(s)
}

// tell notes a command that runs code which is neither in its text nor passed on by the line.
func (n *namer) tell(s simple) {
	text := s.text()
	if strings.HasPrefix(text, shownOpen) && n.depth > 1 {
		return // the line that it stands in is open already
	}
	if !slices.Contains(n.Open, text) {
		n.Open = append(n.Open, text)
	}
}

// badPattern reports whether a pattern is invalid, so that the shell takes it literally.
func badPattern(pattern string) bool {
	_, err := path.Match(pattern, "")
	return err != nil
}

// shownOpen is shown for a part of a command that only the running shell knows.
const shownOpen = "$…"

// text shows a command.
func (s simple) text() string {
	var shown []string
	for _, w := range s.program() {
		shown = append(shown, strings.ReplaceAll(w.text, unknown, shownOpen))
	}
	return strings.Join(shown, " ")
}
