package held

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Holder collects the hashes of held files, by key. A missing file has the hash "": it must not
// appear.
type Holder struct {
	Project string
	Home    string              // the user's home folder
	Config  config.Config       // whose "not_held" and "protect" count
	Git     func(...string) int // runs git in the project and returns its exit status; nil: no repository
	Sums    map[string]string
	Calls   map[string][]string // keys of Sums on which the scripts of a makefile or package.json depend
	Open    []string            // what a command depends on and is not held, with the reason
	Err     error               // why something cannot be held

	programs bool              // data that this command names is not held
	folders  []string          // that commands name
	beside   map[string]string // names of files that count beside or above held tests, with the caller
	caller   string            // the file whose scripts are being looked at
	followed map[string]bool
	ignores  map[string]bool // what git said of files and folders
}

// New returns a Holder for a configuration.
func New(project, home string, c config.Config) *Holder {
	return &Holder{
		Project: project, Home: home, Config: c, Sums: map[string]string{}, Calls: map[string][]string{},
		beside: map[string]string{}, followed: map[string]bool{}, ignores: map[string]bool{},
	}
}

// maxMatches bounds the files that one pattern of a command may match.
const maxMatches = 10_000

func (h *Holder) open(what, why string) {
	what = plain.Line(what, 200)
	if !slices.ContainsFunc(h.Open, func(text string) bool { return strings.HasPrefix(text, what+": ") }) {
		h.Open = append(h.Open, what+why)
	}
}

const onlyLooks = ": the command only looks at it"

// Command holds what a command depends on. Unless data is set, the command may change files that
// it names and does not run.
func (h *Holder) Command(c config.Command, data bool) {
	h.programs = !data
	h.names(c.Named())
}

// Finish holds the files that depend on other held files.
func (h *Holder) Finish() {
	for _, folder := range h.folders {
		inside := func(key string) bool { return folder == "." || strings.HasPrefix(key, folder+"/") }
		if !slices.ContainsFunc(h.held(), inside) {
			h.open(folder, ": a folder; name the files in it that the agent must not edit in \"protect\"")
		}
	}
	for _, key := range h.held() {
		if len(h.beside) == 0 || !testFile().MatchString(key) {
			continue
		}
		for dir := path.Dir(key); ; dir = path.Dir(dir) {
			for name, caller := range h.beside {
				h.caller = caller
				h.one(path.Join(dir, name), config.File{Decides: true})
			}
			if dir == "." || dir == "/" {
				break
			}
		}
	}
}

// testFile matches what pytest takes for a test.
var testFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|/)(test_[^/]*|[^/]*_test)\.py$`)
})

// held returns the keys of held files that exist.
func (h *Holder) held() (keys []string) {
	for key, sum := range h.Sums {
		if sum != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

func (h *Holder) named(f config.File, scripts []string) {
	if f.Beside {
		h.beside[f.Path] = h.caller
		return
	}
	key := keyOf(h.Project, h.Home, f)
	switch {
	case key == "" || !f.Pattern && h.Config.Releases(key) && !h.Config.Protects(key):
	case f.Set != "" || f.Section:
		sum, err := sumOf(h.Project, key)
		if absent(err) {
			err = nil
		}
		h.set(key, sum, err)
	case f.Pattern:
		matches, err := fs.Glob(os.DirFS(h.Project), key)
		if len(matches) > maxMatches {
			err = fmt.Errorf("it matches more than %d files", maxMatches)
		}
		h.fail(key, err)
		switch {
		case len(matches) == 0:
		case f.Looked:
			h.open(f.Path, onlyLooks)
		default:
			h.open(f.Path, ": new files that match")
			for _, match := range matches {
				h.one(match, f)
			}
		}
	case path.Base(key) == config.PackageJSON && !h.Config.Protects(key):
		all, err := scriptsAnd(h.Project, key, scripts)
		h.fail(key, err)
		for name, sum := range all {
			h.hold(name, sum)
		}
	default:
		h.one(key, f)
	}
}

// scriptsAnd is scripts. The result also has these names if the scripts are absent.
func scriptsAnd(project, key string, names []string) (map[string]string, error) {
	if _, err := os.Stat(At(project, key)); err != nil {
		return nil, nil
	}
	all, err := scripts(project, key)
	for _, name := range names {
		if script := key + partOf + name; err == nil && all[script] == "" {
			all[script] = ""
		}
	}
	return all, err
}

func (h *Holder) set(key, sum string, err error) {
	if h.fail(key, err); err == nil {
		h.hold(key, sum)
	}
}

func (h *Holder) hold(key, sum string) {
	h.Sums[key] = sum
	if h.caller != "" && !slices.Contains(h.Calls[h.caller], key) {
		h.Calls[h.caller] = append(h.Calls[h.caller], key)
	}
}

func (h *Holder) fail(key string, err error) {
	if err != nil && h.Err == nil {
		h.Err = fmt.Errorf("%s cannot be held: %w; fix that, or name it in \"not_held\"", plain.Line(key, 200), err)
	}
}

// Hold holds a file that "protect" names, if it can be held.
func (h *Holder) Hold(key string) {
	if sum, err := sumFile(At(h.Project, key)); err == nil {
		h.Sums[key] = sum
	}
}

// one holds one file that a command names, or notes why not.
func (h *Holder) one(key string, f config.File) {
	if h.Config.Releases(key) && !h.Config.Protects(key) {
		return
	}
	info, err := os.Stat(At(h.Project, key))
	switch {
	case absent(err):
		switch {
		case !f.Decides:
		case f.Built:
			h.open(key, ": the command builds it")
		case h.output(key, path.Ext(key) == ""):
			h.open(key, builtElsewhere)
		default:
			h.hold(key, "")
		}
	case err != nil:
		if f.Decides {
			h.fail(key, err)
		}
	case info.IsDir():
		if !f.Quiet && !f.Looked && !slices.Contains(h.folders, key) {
			h.folders = append(h.folders, key)
		}
	case !info.Mode().IsRegular():
		if f.Decides {
			h.fail(key, errors.New("it is no regular file"))
		}
	default:
		h.regular(key, f, info.Mode()&0o111 != 0)
	}
}

func (h *Holder) regular(key string, f config.File, program bool) {
	if sum, held := h.Sums[key]; held {
		h.hold(key, sum)
		return
	}
	switch {
	case h.programs && !f.Decides && !program:
	case f.Looked && config.Manifest(key):
		h.open(key, ": it says what the project needs")
	case f.Looked:
		h.open(key, onlyLooks)
	case f.Built && (h.ignored(key) || binary(At(h.Project, key)) && !h.tracked(key)):
		h.open(key, ": the command builds it")
	case !f.Decides && !program && h.ignored(key):
		h.open(key, ": git ignores it")
	case h.output(key, binary(At(h.Project, key))):
		h.open(key, builtElsewhere)
	default:
		sum, err := sumFile(At(h.Project, key))
		h.set(key, sum, err)
	}
}

// absent reports whether an error means that there is no such file.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// keyOf returns the key of a file that a command names, or a pattern of keys; "" if it is not in
// the project.
func keyOf(project, home string, f config.File) string {
	key := Below(project, home, f.Path)
	switch {
	case key == "":
	case f.Set != "":
		return key + "/* " + string(f.Set)
	case f.Section:
		return key + sections
	case key == ".":
		return ""
	}
	return key
}
