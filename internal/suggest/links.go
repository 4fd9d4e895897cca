package suggest

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// maker is a command that makes a folder.
type maker struct {
	trigger string // a file beside the folder that asks for the command; "" for any
	program string // another reason for the command: a check runs this
	command string // with DIR for the folder's name
}

// pythonMakers make a virtual environment. The first one whose file is there counts.
var pythonMakers = []maker{
	{"uv.lock", "uv", "uv sync"},
	{"poetry.lock", "poetry", "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install"},
	{"pdm.lock", "pdm", "pdm install"},
	{"requirements.txt", "", "python3 -m venv DIR && DIR/bin/pip install -r requirements.txt -e ."},
	{"", "", "python3 -m venv DIR && DIR/bin/pip install -e ."},
}

const (
	pythonInputs   = "pyproject.toml setup.py setup.cfg requirements.txt uv.lock poetry.lock pdm.lock Pipfile Pipfile.lock"
	composerInputs = "composer.json composer.lock"
	yarnInputs     = "package.json yarn.lock .yarnrc.yml"
	cmakeInputs    = "CMakeLists.txt CMakePresets.json"
	mesonInputs    = "meson.build meson.options meson_options.txt"
	autoInputs     = "configure configure.ac Makefile.am Makefile.in"
)

// What tools write that name the folder by its whole path. Each of these may be in folders below, too.
const (
	yarnFiles  = ".pnp.cjs .pnp.loader.mjs install-state.gz unplugged"
	cmakeFiles = "CMakeCache.txt CMakeFiles Makefile cmake_install.cmake CTestTestfile.cmake build.ninja"
	autoFiles  = "config.status config.log libtool"
)

// linksBack adds the folders that would lead from the copy back into the project, so that checks would test what is
// there, and what makes them again. It returns the folders as a person reads of them.
func (r *reader) linksBack(s *Suggestion) (texts []string) {
	for _, name := range r.ignored {
		above, base := path.Split(name)
		command, inputs := "", ""
		outputs := []string{name}
		switch {
		case strings.Trim(name, plainLetters) != "" || name[0] == '-':
			continue // it means something to a shell, or as a pattern
		case hasWord(".venv venv", base) && r.isEditable(name):
			i := slices.IndexFunc(pythonMakers, func(m maker) bool {
				return m.trigger == "" || r.isFile(above+m.trigger) || r.runs(m.program)
			})
			command, inputs = pythonMakers[i].command, pythonInputs
		case base == "vendor" && r.isFile(name+"/composer/autoload_real.php") && r.ignoresPath(name+"/x"):
			command, inputs = "composer install", composerInputs
		case base == ".pnp.cjs" && r.isFile(above+"yarn.lock"):
			command, inputs = "yarn install", yarnInputs
			outputs = r.outputPatterns(above, yarnFiles)
		case base == "CMakeCache.txt":
			command, inputs = "cmake .", cmakeInputs
			outputs = r.outputPatterns(above, cmakeFiles)
		case base == "config.status" && r.isFile(above+"configure"):
			command, inputs = "./configure", autoInputs
			outputs = r.outputPatterns(above, autoFiles)
		case r.isFile(name + "/CMakeCache.txt"):
			command, inputs = "cmake -B DIR", cmakeInputs
		case r.isFile(name + "/meson-private/coredata.dat"):
			command, inputs = "meson setup DIR", mesonInputs
		default:
			continue
		}
		for _, output := range outputs {
			s.Outputs = add(s.Outputs, output)
		}
		if r.cmake && base != "CMakeCache.txt" && inputs == cmakeInputs { // such a makefile has commands of CMake
			texts = append(texts, name)
			continue
		}
		command = s.prepare(r, above, strings.ReplaceAll(command, "DIR", base), inputs)
		texts = append(texts, name+" with `"+command+"`")
	}
	for _, name := range r.builds { // there is none yet
		if !r.cmake && !r.isFolder(name) && r.ignoresPath(name+"/x") && r.isFile("CMakeLists.txt") {
			s.Outputs = add(s.Outputs, name)
			texts = append(texts, name+" with `"+s.prepare(r, "", "cmake -B "+name, cmakeInputs)+"`")
		}
	}
	for _, u := range r.uses {
		if r.isReady(u) {
			texts = r.install(s, texts, u)
		}
	}
	return texts
}

// runs reports whether a check runs a tool that has a row of its own.
func (r *reader) runs(name string) bool {
	return slices.ContainsFunc(r.uses, func(u use) bool { return u.names == name })
}

// outputPatterns returns patterns of what git ignores below a folder and has one of some names, or was made of a file
// .in.
func (r *reader) outputPatterns(above, names string) (patterns []string) {
	for _, name := range r.ignored {
		isBelow := strings.HasPrefix(name, above)
		if isBelow && (hasWord(names, path.Base(name)) || names == autoFiles && r.isFile(name+".in")) {
			patterns = add(patterns, above+"**/"+path.Base(name))
		}
	}
	return patterns
}

// install adds the command with which a tool makes its packages, if they are not in the project, or not yet: made there
// later, they would lead back.
func (r *reader) install(s *Suggestion, texts []string, u use) []string {
	for _, folder := range u.folders {
		above := strings.TrimPrefix(folder+"/", "./")
		at := above + cmp.Or(u.holds, ".venv")
		inputs, text := pythonInputs, "packages"
		isOdd := strings.Trim(above, plainLetters) != ""
		if u.install == "" || isOdd || r.isFolder(at) {
			continue
		}
		if u.holds == "vendor" {
			inputs = composerInputs
			if !r.ignoresPath(at + "/x") { // it belongs to the project
				continue
			}
		}
		if u.holds != "" {
			s.Outputs = add(s.Outputs, at)
			text = at
		}
		texts = append(texts, text+" with `"+s.prepare(r, above, u.install, inputs)+"`")
	}
	return texts
}

// prepare adds a command that runs in a folder if some files change there, and returns it.
func (s *Suggestion) prepare(r *reader, above, command, inputs string) string {
	if above != "" {
		command = "cd " + strings.TrimSuffix(above, "/") + " && " + command
	}
	p := Prepare{Command: command}
	for file := range strings.FieldsSeq(inputs) {
		if r.isFile(above + file) {
			p.WhenChanged = append(p.WhenChanged, above+file)
		}
	}
	s.Prepare = append(s.Prepare, p)
	return command
}

const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/"

// isEditable reports whether a virtual environment has packages of the project by their path.
func (t *tree) isEditable(folder string) bool {
	places := []string{path.Join(folder, "Lib/site-packages")} // on Windows
	for _, version := range t.entries(path.Join(folder, "lib")) {
		places = append(places, path.Join(folder, "lib", version.Name(), "site-packages"))
	}
	for _, place := range places {
		for _, entry := range t.entries(place) {
			name := path.Join(place, entry.Name())
			source := gjson.Parse(t.read(path.Join(name, "direct_url.json")))
			isPath := path.Ext(name) == ".pth" || strings.HasPrefix(entry.Name(), "__editable__")
			if isPath && t.isIn(t.read(name), folder) ||
				source.Get("dir_info.editable").Bool() && t.isIn(source.Get("url").String(), folder) {
				return true
			}
		}
	}
	return false
}

// Sites returns the folders with the packages of the Python that a PATH finds, and with those of a user.
func Sites(search, home string) (sites []string) {
	tops := []string{filepath.Join(home, ".local")}
	for _, name := range []string{"python3", "python"} {
		for _, folder := range filepath.SplitList(search) {
			file := filepath.Join(folder, name)
			_, err := os.Stat(file)
			if err != nil {
				continue
			}
			tops = append(tops, filepath.Dir(folder))
			real, err := filepath.EvalSymlinks(file)
			if err == nil {
				tops = append(tops, filepath.Dir(filepath.Dir(real)))
			}
			if filepath.Base(folder) == "shims" { // of pyenv, which looks for the right one
				tops = append(tops, loopdir.Glob(filepath.Dir(folder), "versions/*")...)
			}
			break
		}
	}
	for _, top := range tops {
		for _, pattern := range []string{"lib/python*/site-packages", "lib/python*/dist-packages"} {
			sites = append(sites, loopdir.Glob(top, pattern)...)
		}
	}
	slices.Sort(sites)
	return slices.Compact(sites)
}

// isInstalled returns the first of some folders with packages that has one of the project by its path; "": none has.
func (t *tree) isInstalled(sites []string) string {
	for _, site := range sites {
		entries, _ := os.ReadDir(site) // it need not be there
		for _, entry := range entries {
			isPath := filepath.Ext(entry.Name()) == ".pth" || strings.HasPrefix(entry.Name(), "__editable__")
			info, err := entry.Info()
			if !isPath || err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
				continue
			}
			text, err := os.ReadFile(filepath.Join(site, entry.Name()))
			if err == nil && t.isIn(string(text), "") {
				return site
			}
		}
	}
	return ""
}

// isIn reports whether the project's path is in a text, but not only as that of one folder.
func (t *tree) isIn(text, folder string) bool {
	if runtime.GOOS == "windows" {
		text = strings.ReplaceAll(text, `\\`, `\`) // as in a text of Python
	}
	text = filepath.ToSlash(text)
	for _, top := range t.paths {
		top = filepath.ToSlash(top)
		rest := text + "\n"
		if folder != "" {
			rest = strings.ReplaceAll(rest, path.Join(top, filepath.ToSlash(t.local(folder))), "")
		}
		for _, end := range []string{"/", "\n", "'", `"`} {
			if strings.Contains(rest, top+end) {
				return true
			}
		}
	}
	return false
}
