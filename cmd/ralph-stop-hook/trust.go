package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func trustCommand() *command {
	var yes, restore bool
	cmd := loopVerb("trust", "Accept a loop's ralph.json and list as they are now, with the commands in them", func(w io.Writer, s *loopdir.Store) error {
		if err := personOnly(); err != nil {
			return err
		}
		text, err := s.Config()
		if err != nil {
			return err
		}
		if text == nil {
			text = []byte("{}") // a list may bring checks of its own
		}
		c, err := config.Parse(text)
		if err != nil {
			return fmt.Errorf("%s: %w", loopdir.ConfigFile, err)
		}
		state, err := s.State()
		if err != nil {
			return err
		}
		path := s.ListPath(c.List, state.List)
		if restore && c.Source.Given() {
			return errors.New("the list is a tracker's; put the features back there")
		}
		if restore {
			if err := locked(s, func() error { return s.RestoreList(path) }); err != nil {
				return err
			}
			fmt.Fprintf(w, "%s: the list is as it was trusted\n", plain.Line(s.Name, 100))
			return nil
		}
		list, ask := s.List(path), c.Source.Given()
		if ask {
			list, path = decide.List{}, ""
		}
		record, err := trusted(s, text, list, true)
		if err != nil {
			return err
		}
		before, err := s.Trust()
		if err != nil {
			fmt.Fprintf(w, "warning: %s\n", plain.Line(err.Error(), 1000)) // which this mends
		}
		showTrust(w, &loaded{Store: s, config: config.InForce{Config: c, Trust: record}}, before, list)
		if len(record.Features) > 0 {
			fmt.Fprintf(w, "held as they are: %s of %s\n", plural(len(record.Features), "feature"), relative(s.Project, path))
		}
		if !yes {
			if err := confirm(w, "trust this?", "nothing was trusted; what held before holds"); err != nil {
				return err
			}
		}
		if ask { // now that it is trusted
			if record, err = trustSource(w, s, c, record); err != nil {
				return err
			}
		}
		if err := locked(s, func() error { return s.SetTrust(record, path) }); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: this is in force now\n", plain.Line(s.Name, 100))
		return nil
	})
	cmd.flags.BoolVar(&yes, "yes", false, "do not ask")
	cmd.flags.BoolVar(&restore, "restore", false, "put the list back as it was trusted, with what passes in it now")
	return cmd
}

// showTrust shows what is to be trusted, and what is other than what was trusted
// before.
func showTrust(w io.Writer, l *loaded, before *config.Trust, list decide.List) {
	show := func(format string, text string) { fmt.Fprintf(w, format+"\n", plain.Line(text, 1000)) }
	if before == nil {
		before = &config.Trust{}
	} else if changes := diffLines(before.Text, l.config.Text); len(changes) > 0 {
		fmt.Fprintf(w, "%s was changed since it was trusted:\n", loopdir.ConfigFile)
		for _, line := range changes {
			fmt.Fprintf(w, "  %s\n", plain.Text(strings.TrimRight(line, "\r\n"), 1000))
		}
	}
	for _, command := range l.config.Notifiers {
		show(strings.ReplaceAll(command.Event, "-", "_")+" runs: %s", command.String())
	}
	for _, command := range l.config.Source.Commands() {
		show("source: %s", command.String())
	}
	var open []string // commands for which nothing is held
	note := func(check config.Check) {
		isHeld := func(key string) bool { return l.config.Files[key] != "" }
		if check.Runs() && !slices.ContainsFunc(l.rests(check.Command), isHeld) && !slices.Contains(open, check.String()) {
			open = append(open, check.String())
		}
	}
	for _, check := range l.config.Checks {
		show("check, when "+check.When+": %s", check.String())
		note(check)
	}
	own, _ := ownChecks(list)
	for _, e := range l.config.Active() {
		if e.Preset == "" {
			show("evaluator: %s", e.String())
		}
	}
	showOwn(w, list)
	if lost := list.Lost(before.Features); len(lost) > 0 && !l.config.Source.Given() {
		show("gone or reworded since: %s", strings.Join(lost, ", "))
	}
	files := maps.Clone(l.config.Files)
	maps.Copy(files, before.Files)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		was, had := before.Files[path]
		now, has := l.config.Files[path]
		note := ""
		switch {
		case !has:
			show("not held any more: %s", path)
			continue
		case had && was != now:
			note = ", changed since"
		case !had && len(before.Files) > 0:
			note = ", new"
		}
		if now == "" {
			show("held as not there: %s"+note, path)
		} else {
			show("held as it is: %s"+note, path)
		}
	}
	for _, check := range own {
		note(check)
	}
	if len(open) > 0 && len(l.config.Protect) == 0 {
		show("warning: nothing of the project is held for %s; name the tests and scripts that an agent must not edit in \"protect\"", strings.Join(open, ", "))
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if rel, err := filepath.Rel(l.Project, dir); err == nil && (filepath.IsLocal(rel) || !filepath.IsAbs(dir)) {
			show("warning: PATH has the project's folder %s, where an agent can write programs", dir)
		}
	}
}

// showOwn shows what the features of a list bring, each text once.
func showOwn(w io.Writer, list decide.List) {
	var order []string
	times := map[string]int{}
	show := func(text string) {
		if times[text]++; times[text] == 1 {
			order = append(order, text)
		}
	}
	checks, none := ownChecks(list)
	for _, c := range checks {
		show("check of the list, when feature: " + c.Name)
	}
	for _, item := range list.Items {
		_, manual := config.OwnChecks(item, func(command string) bool { return !slices.Contains(none, command) })
		for _, point := range manual {
			show("manual, so never run: " + point)
		}
	}
	for _, text := range order {
		of := ""
		if times[text] > 1 {
			of = fmt.Sprintf(" (of %d features)", times[text])
		}
		fmt.Fprintln(w, plain.Line(text, 1000)+of)
	}
}

// trustSource adds to a record what the tracker lists.
func trustSource(w io.Writer, s *loopdir.Store, c config.Config, record config.Trust) (config.Trust, error) {
	s.ForgetSource()
	l := &loaded{Store: s, config: config.InForce{Config: c, Trust: record, Trusted: true}}
	l.snap.Unlisted = true
	l.freshen()
	if l.snap.List.Err != nil {
		return record, l.snap.List.Err
	}
	fmt.Fprintf(w, "it lists %s, %d of them pass\n", plural(len(l.snap.List.Items), "feature"), l.snap.List.Passed())
	return trusted(s, []byte(record.Text), l.snap.List, false)
}

func untrustCommand() *command {
	cmd := loopVerb("untrust", "Take trust back: none of a loop's commands runs any more", func(w io.Writer, s *loopdir.Store) error {
		if err := personOnly(); err != nil {
			return err
		}
		if err := locked(s, func() error {
			record, err := s.Trust()
			if err != nil || record == nil {
				return err
			}
			record.Revoked = true
			return s.SetTrust(*record, "")
		}); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: no command is trusted any more\n", plain.Line(s.Name, 100))
		return nil
	})
	cmd.long = `Take trust back: none of a loop's commands runs any more, so none of its checks
that is a command can pass, and no notifier is told. The rest of ralph.json, such as
its limits, and the list are held to what you trusted last; edits of them have no
effect until 'trust' accepts them.`
	return cmd
}

// confirm asks a person who was shown what is to be done; no says what a no means.
func confirm(w io.Writer, question, no string) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return errors.New("there is no terminal to ask at; look at what is listed and run it again with --yes")
	}
	fmt.Fprintf(w, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New(no)
	}
	return nil
}
