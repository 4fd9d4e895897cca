package held

import (
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
)

// TestCalls has commands that call make and npm. What these run is held, and the command rests on it.
func TestCalls(t *testing.T) {
	project := write(t, map[string]string{
		"Makefile": "D = tests\ntest: app\n\tsh $(D)/run.sh data\n\t$(X) y.sh\napp: main.c\n" +
			"\tcc -o $@ $<\n\t./app\nother:\n\tsh other.sh\nweb:\n\tnpm --prefix web test\ninclude rules.mk\n",
		"rules.mk":         "-include .depend sub/*.mk\n.depend:\n\tsh depend.sh > $@\nsub:\n\t$(MAKE) -C sub\n",
		"sub/Makefile":     "all:\n\tsh ./in-sub.sh && cd deep && sh v.sh\n",
		"sub/a.mk":         "",
		"web/package.json": `{"scripts": {"test": "node t.js && npm run lint", "lint": "sh lint.sh", "x": "sh x.sh"}}`,
		"package.json":     `{"scripts": {"test": "make sub", "pretest": "python3 -m checks.all src/a.py"}}`,
		"main.c":           "", "data": "", "tests/run.sh": "", "other.sh": "", "sub/in-sub.sh": "",
		"depend.sh": "", "sub/deep/v.sh": "", "web/t.js": "",
		"checks/all.py": "", "src/a.py": "", "web/lint.sh": "",
	})
	const (
		included = "Makefile rules.mk sub/a.mk "
		makeTest = included + "tests/run.sh"
		sub      = "sub/Makefile sub/deep/v.sh sub/in-sub.sh"
		npmTest  = "checks/all.py checks/all/__init__.py checks/all/__main__.py " + included + sub
	)
	_, err := os.Stat(At(project, "makefile"))
	folds := err == nil // "makefile" is another name of Makefile here
	for line, want := range map[string]string{
		"make test":            makeTest,
		"make":                 makeTest,
		"make -s D=other":      included,
		"make other":           included + "other.sh",
		"make web":             included + "web/lint.sh web/t.js",
		"make .depend":         included + "depend.sh",
		"make sub":             included + sub,
		"make -C sub":          sub,
		"cd sub && make":       sub,
		"make -f other.mk":     "other.mk",
		"npm test":             npmTest,
		"npm --prefix web t":   "web/lint.sh web/t.js",
		"node --run test":      npmTest,
		"cd web; npm run lint": "web/lint.sh",
	} {
		h := New(project, "", config.Config{})
		h.Command(config.Command{Shell: line}, true)
		h.Finish()
		if h.Err != nil {
			t.Errorf("%s: %v", line, h.Err)
		}
		unasked := func(key string) bool {
			return config.Optional(key) && !strings.HasPrefix(key, "checks/") &&
				(h.Sums[key] == "" || strings.Contains(key, partOf)) || folds && path.Base(key) == "makefile"
		}
		wanted := slices.Sorted(slices.Values(strings.Fields(want)))
		if got := slices.DeleteFunc(slices.Sorted(maps.Keys(h.Sums)), unasked); !slices.Equal(got, wanted) {
			t.Errorf("%s\n holds %q\n want  %q", line, got, wanted)
		}
		keys := Keys(project, "", h.Sums, h.Calls, config.Command{Shell: line})
		if all := slices.Sorted(maps.Keys(h.Sums)); !slices.Equal(keys, all) {
			t.Errorf("%s\n rests on %q\n of       %q", line, keys, all)
		}
		if keys := Keys(project, "", h.Sums, h.Calls, config.Command{Shell: "sh notify.sh"}); len(keys) > 0 {
			t.Errorf("another command rests on %q", keys)
		}
		if told := slices.Contains(h.Open, "Makefile: $… y.sh"+notTold); told != (want == makeTest || want == included) {
			t.Errorf("%s: not held: %q", line, h.Open)
		}
	}
}

// TestCallsReleased follows no file that the agent may edit.
func TestCallsReleased(t *testing.T) {
	project := write(t, map[string]string{"Makefile": "a:\n\tsh v.sh\n", "v.sh": ""})
	pattern, err := config.ParsePattern("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	h := New(project, "", config.Config{NotHeld: []config.Pattern{pattern}})
	if h.Command(config.Command{Shell: "make"}, true); h.Sums["v.sh"] != "" || h.Sums["Makefile"] != "" {
		t.Errorf("held: %v", h.Sums)
	}
}
