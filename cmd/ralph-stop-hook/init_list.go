package main

import (
	"fmt"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// checkList says what is wrong with the list, and refuses one in which nothing can be worked.
// It is as 'list check' has it.
func (i *initialiser) checkList() error {
	if i.list == config.ListNone {
		return nil
	}
	path := filepath.Join(i.dir, loopdir.ListFile)
	if i.list != "" {
		path = filepath.Join(i.project, filepath.FromSlash(i.list))
	}
	data, how, err := verb.ReadList(path)
	if err != nil {
		return nil // an example, which init is to write
	}
	how.Skip, how.Now = i.reading.Skip, i.reading.Now
	list, problems, remarks := how.Check(data)
	shown, _ := features.Named(path)
	shown = i.show(shown)
	_, open := list.Next()
	done := list.Passed() == len(list.Items)
	switch {
	case open || i.takenUp():
	case done && len(i.checks) > 0:
		fmt.Fprintf(i.out, "every feature of %s passes already: the first stop runs the checks\n", shown)
	case done:
		return fmt.Errorf("every feature of %s passes already, so there is nothing to do; add what there is more to do, "+
			"or open a feature again, and run init again", shown)
	default:
		return fmt.Errorf("nothing in %s can be worked on: %s; fix that, and run init again (ralph-stop-hook list check "+
			"%s says where)", shown, plain.Line(list.Stuck(), 500), plain.Arg(shown))
	}
	i.warnOfOthers()
	tell := func(level string, found []error) {
		for _, err := range found[:min(len(found), maxProblems)] {
			fmt.Fprintf(i.out, "%s: %s: %s\n", level, shown, plain.Line(err.Error(), 500))
		}
		if more := len(found) - maxProblems; more > 0 {
			fmt.Fprintf(i.out, "%s: %d more; ralph-stop-hook list check %s shows them\n", level, more, plain.Arg(shown))
		}
	}
	tell("warning", problems)
	tell("remark", remarks)
	return nil
}

// takenUp reports whether init finds a loop that was made before, and leaves it as it is.
func (i *initialiser) takenUp() bool {
	text, err := loopdir.ReadAny(filepath.Join(i.dir, loopdir.ConfigFile), config.MaxBytes)
	return err == nil && text != nil && !i.force
}
