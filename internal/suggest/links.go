package suggest

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// maker is a command that makes a folder.
type maker struct {
	beside  string // a file beside the folder that asks for the command; "" for any
	command string // with DIR for the folder's name
}

// pythonMakers make a virtual environment. The first one whose file is there counts.
var pythonMakers = []maker{
	{"uv.lock", "uv sync"},
	{"poetry.lock", "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install"},
	{"pdm.lock", "pdm install"},
	{"requirements.txt", "python3 -m venv DIR && DIR/bin/pip install -r requirements.txt -e ."},
	{"", "python3 -m venv DIR && DIR/bin/pip install -e ."},
}

const (
	pythonInputs   = "pyproject.toml setup.py setup.cfg requirements.txt uv.lock poetry.lock pdm.lock"
	composerInputs = "composer.json composer.lock"
	cmakeInputs    = "CMakeLists.txt CMakePresets.json"
)

// linksBack adds the folders that would lead from the copy back into the project, so that checks would test what is
// there, and what makes them again. It returns the folders as a person reads of them.
func (r *reader) linksBack(s *Suggestion) (texts []string) {
	for _, name := range r.aside {
		above, base := path.Split(name)
		command, inputs := "", ""
		switch {
		case strings.Trim(name, plainLetters) != "" || name[0] == '-':
			continue // it means something to a shell, or as a pattern
		case hasWord(".venv venv", base) && r.isEditable(name):
			i := slices.IndexFunc(pythonMakers, func(m maker) bool { return m.beside == "" || r.isFile(above+m.beside) })
			command, inputs = pythonMakers[i].command, pythonInputs
		case base == "vendor" && r.isFile(name+"/composer/autoload_real.php") && r.ignoresPath(name+"/x"):
			command, inputs = "composer install", composerInputs
		case r.isFile(name+"/CMakeCache.txt") && r.cmake:
			s.Outputs = add(s.Outputs, name)
			texts = append(texts, name)
			continue
		case r.isFile(name + "/CMakeCache.txt"):
			command, inputs = "cmake -B DIR", cmakeInputs
		default:
			continue
		}
		p := Prepare{Command: strings.ReplaceAll(command, "DIR", base)}
		if above != "" {
			p.Command = "cd " + strings.TrimSuffix(above, "/") + " && " + p.Command
		}
		for file := range strings.FieldsSeq(inputs) {
			if r.isFile(above + file) {
				p.WhenChanged = append(p.WhenChanged, above+file)
			}
		}
		s.Outputs = add(s.Outputs, name)
		s.Prepare = append(s.Prepare, p)
		texts = append(texts, name+" with `"+p.Command+"`")
	}
	return texts
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

// isIn reports whether the project's path is in a text, but not only as that of one folder.
func (t *tree) isIn(text, folder string) bool {
	if runtime.GOOS == "windows" {
		text = strings.ReplaceAll(text, `\\`, `\`) // as in a text of Python
	}
	text = filepath.ToSlash(text)
	for _, top := range t.paths {
		top = filepath.ToSlash(top)
		rest := strings.ReplaceAll(text, path.Join(top, filepath.ToSlash(t.local(folder))), "") + "\n"
		for _, end := range []string{"/", "\n", "'", `"`} {
			if strings.Contains(rest, top+end) {
				return true
			}
		}
	}
	return false
}
