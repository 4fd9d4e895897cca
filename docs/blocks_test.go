package docs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// What the documents show is run, top to bottom, in a project that is thrown
// away. The kinds of fenced blocks:
//
//	sh        run by sh -eu; 'trust' is answered with yes
//	console   a "$ " before each command, and what it prints: a line of … is any
//	          number of lines, and … within a line is anything
//	crontab   what is behind the times is run
//	json      read by what reads it in the product
//	conf      of a NATS server; TestCluster starts it
//	ini       a unit of systemd: its keys, and the flags of our program
//	yaml      of Kubernetes: its keys, and the flags of our program
//	text      shows no command of ours
//
// A block with a path behind its kind (```json tasks.json) is that file: it is
// written into the project, and not run. Between blocks, comments of HTML say more:
//
//	<!-- not run: why -->    of the next block; how many there are is in notRun
//	<!-- needs: PROGRAM… --> without which the rest of the document is skipped
//	<!-- new project -->     an empty one from here on
//
// No comment is run: what a reader does not see, a reader does not do. TestLines looks at the flags of every command
// line, also of those that are not run, or that may fail.
var (
	fence   = regexp.MustCompile("^```([a-z]*)(?: (\\S+))?$")
	comment = regexp.MustCompile(`^<!-- (?:(not run|needs): )?(.*) -->$`)
)

// block is a fenced block or a comment.
type block struct {
	line   int // that it begins at
	kind   string
	path   string
	text   string
	notRun string // why
}

// blocks returns the blocks of a document.
func blocks(text string) (list []block, err error) {
	var now *block
	why, before := "", ""
	for n, line := range strings.Split(text, "\n") {
		m, c := fence.FindStringSubmatch(line), comment.FindStringSubmatch(line)
		switch {
		case now != nil && line == "```":
			list, now = append(list, *now), nil
		case now != nil:
			now.text += line + "\n"
		case m != nil:
			now, why = &block{line: n + 1, kind: m[1], path: m[2], notRun: why}, ""
		case c != nil && c[1] == "not run":
			why = c[2]
		case c != nil && c[1] == "needs":
			list = append(list, block{line: n + 1, kind: c[1], text: c[2]})
		case c != nil && c[2] == "new project":
			list = append(list, block{line: n + 1, kind: c[2]})
		case c != nil && strings.HasPrefix(c[2], "run: "):
			return nil, fmt.Errorf("line %d: a step that a reader does not see", n+1)
		case strings.HasPrefix(line, "    ") && before == "":
			return nil, fmt.Errorf("line %d: an indented block, which is not run; fence it", n+1)
		case why != "":
			return nil, fmt.Errorf("line %d: 'not run' is said of no block", n+1)
		}
		before = line
	}
	if now != nil {
		return nil, fmt.Errorf("line %d: the block has no end", now.line)
	}
	return list, nil
}

var (
	link    = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`) // within the repository
	heading = regexp.MustCompile("(?m)^#+ (.*)$")
)

// follow checks that the target of a link in a document exists.
func follow(from, path, anchor string) error {
	to := from
	if path != "" {
		to = filepath.Join(filepath.Dir(from), filepath.FromSlash(path))
	}
	if _, err := os.Stat(to); err != nil || anchor == "" {
		return err
	}
	text, err := os.ReadFile(to)
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		plain := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		if strings.ReplaceAll(plain, " ", "-") == anchor {
			return nil
		}
	}
	return errors.Join(err, fmt.Errorf("no heading #%s in %s", anchor, to))
}
