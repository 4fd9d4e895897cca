package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func doctorCommand() *command {
	var fix, asJSON bool
	cmd := &command{
		name:  "doctor",
		args:  "[NAME]",
		short: "Look for what keeps a loop, or the hook, from working, and say what to do",
		long:  doctorHelp,
		run: func(w io.Writer, args []string) error {
			l, err := findLoop(args)
			if l == nil && len(args) > 0 {
				return err
			}
			if errors.Is(err, errNoLoop) {
				err = nil
			}
			return doctor(w, l, err, fix, asJSON)
		},
	}
	cmd.flags.BoolVar(&fix, "fix", false, "mend what is safe to mend, and say each")
	cmd.flags.BoolVar(&asJSON, "json", false, "for machines: an array of {check, level, text, fix}")
	return cmd
}

const doctorHelp = `Look at the client, its settings, the hook's entry in them, and the loop: its
folders, list, trust, session and notices. Each finding says what to do. Without a
loop the installation alone is looked at. The exit status is 1 if there is an error.

--fix does what can be undone and needs no choice: the modes of our own folders, a
second entry of ours, an event that the entry lacks, leftover temporary files, and
notices that were cut off. What else stands in the settings it leaves alone.`

// finding is what doctor says of one thing.
type finding struct {
	Check string `json:"check"`
	Level string `json:"level"` // ok, note, warning or error
	Text  string `json:"text"`
	Fix   string `json:"fix"` // what a person does about it

	mend func() error // what --fix does about it; nil: nothing
}

func newFinding(level, fix, format string, args []any) *finding {
	return &finding{Level: level, Fix: plain.Line(fix, 1000), Text: plain.Line(fmt.Sprintf(format, args...), 1000)}
}

func good(format string, args ...any) *finding { return newFinding("ok", "", format, args) }

func note(fix, format string, args ...any) *finding { return newFinding("note", fix, format, args) }

func warning(fix, format string, args ...any) *finding {
	return newFinding("warning", fix, format, args)
}

func failure(fix, format string, args ...any) *finding { return newFinding("error", fix, format, args) }

// examination looks at one thing; a new one is a row.
type examination struct {
	name string
	look func(*patient) []*finding
}

// ofHost are about the client and its settings.
var ofHost = []examination{
	{"client", lookClient}, {"cap", lookCap}, {"settings", lookSettings}, {"hooks", lookDisabled},
	{"entry", lookEntry}, {"program", lookProgram}, {"rivals", lookRivals}, {"git", lookGit},
}

// vital is what init looks at before it starts a loop: one that fails here cannot work.
var vital = []examination{{"hooks", lookDisabled}, {"program", lookProgram}}

// ofLoop are about one loop, and ofLoaded about one that can be loaded.
var (
	ofLoop   = []examination{{"folders", lookFolders}, {"loop", lookLoop}}
	ofLoaded = []examination{
		{"list", lookList}, {"trust", lookTrust}, {"time", lookTime},
		{"session", lookSession}, {"notices", lookNotices}, {"leftovers", lookLeftovers},
	}
)

// unless returns what was found wrong, and fine where that is nothing.
func unless(found []*finding, fine *finding) []*finding {
	if found == nil {
		found = append(found, fine)
	}
	return found
}

// examine looks at all there is.
func examine(l *loopdir.Loop, trouble error) (all []*finding, err error) {
	project, err := projectHere()
	if err != nil {
		return nil, err
	}
	p := newPatient(project)
	look := func(rows []examination) {
		for _, row := range rows {
			for _, f := range row.look(p) {
				f.Check = row.name
				all = append(all, f)
			}
		}
	}
	look(ofHost)
	if l == nil {
		f := note("ralph-stop-hook init", "no loop in this project")
		if trouble != nil {
			f = failure("", "%v", trouble)
		}
		f.Check = "loop"
		return append(all, f), nil
	}
	defer p.close()
	// What a loop is loaded with decides where programs are found.
	defer os.Setenv("PATH", os.Getenv("PATH"))
	p.loop = l
	look(ofLoop)
	if p.loaded != nil {
		look(ofLoaded)
	}
	return all, nil
}

func doctor(w io.Writer, l *loopdir.Loop, trouble error, fix, asJSON bool) error {
	found, err := examine(l, trouble)
	if err != nil {
		return err
	}
	var mended []*finding
	for _, f := range found {
		if !fix || f.mend == nil {
			continue
		}
		done := good("mended: %s", f.Text)
		if err := f.mend(); err != nil {
			done = warning(f.Fix, "not mended: %v", err)
		}
		done.Check = f.Check
		mended = append(mended, done)
	}
	if len(mended) > 0 {
		if found, err = examine(l, trouble); err != nil {
			return err
		}
		found = append(mended, found...)
	}
	count := map[string]int{}
	for _, f := range found {
		count[f.Level]++
	}
	if asJSON {
		text, err := indentJSON(found)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		return cmp.Or(err, sick(count))
	}
	for _, f := range found {
		fmt.Fprintf(w, "%-8s %-10s %s\n", f.Level, f.Check, f.Text)
		if f.Fix != "" {
			fmt.Fprintf(w, "%20s-> %s\n", "", f.Fix)
		}
	}
	return sick(count)
}

// sick is the exit of a doctor that has found errors.
func sick(count map[string]int) error {
	if count["error"] == 0 {
		return nil
	}
	return fmt.Errorf("%s and %s; each says what to do", plural(count["error"], "error"), plural(count["warning"], "warning"))
}
