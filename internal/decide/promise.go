package decide

import (
	"regexp"
	"strings"
)

// Promise is a line of the person's own by which the agent says how the loop
// stands.
type Promise struct {
	Status  Status         // Complete, Blocked or Escalated
	Pattern *regexp.Regexp // matches the whole line only; its first group is the reason
}

// promise reads what the agent said of the whole loop in its last message:
// <promise>COMPLETE</promise>, or BLOCKED: why, or ESCALATE. It counts only as the
// last line that is not empty, whole, and outside a code fence or quotation, so
// that talking about the words is not saying them.
func (s *Snapshot) promise() (status Status, why string) {
	lines := strings.Split(strings.TrimRight(s.Message, " \t\r\n"), "\n")
	last := strings.TrimRight(lines[len(lines)-1], " \t\r")
	if shown(lines[:len(lines)-1]) {
		return "", ""
	}
	for _, p := range s.Promises {
		if found := p.Pattern.FindStringSubmatch(last); found != nil {
			return p.Status, strings.TrimSpace(strings.Join(found[1:min(2, len(found))], ""))
		}
	}
	if last == "RALPH_STATUS: COMPLETE" || last == "EXIT_SIGNAL: true" {
		return Complete, "" // as other loops have it
	}
	body, opened := strings.CutPrefix(last, "<promise>")
	body, closed := strings.CutSuffix(body, "</promise>")
	if !opened || !closed {
		return "", ""
	}
	word, why, _ := strings.Cut(body, ":")
	switch strings.TrimSpace(word) {
	case "COMPLETE":
		return Complete, ""
	case "BLOCKED":
		return Blocked, strings.TrimSpace(why)
	case "ESCALATE":
		return Escalated, strings.TrimSpace(why)
	}
	return "", ""
}

// shown tells whether the line behind these is in a code fence, or goes on a
// quotation, as CommonMark has it.
func shown(lines []string) bool {
	fence, at, quoted := "", 0, false
	for _, line := range lines {
		l := strings.TrimLeft(line, " \t")
		indent := len(strings.ReplaceAll(line[:len(line)-len(l)], "\t", "    "))
		l = strings.TrimSpace(l)
		mark := l[:len(l)-len(strings.TrimLeft(l, "`"))]
		if mark == "" {
			mark = l[:len(l)-len(strings.TrimLeft(l, "~"))]
		}
		switch {
		case fence != "" && indent < at+4 && mark == l && strings.HasPrefix(mark, fence):
			fence = ""
		case fence == "" && len(mark) >= 3 && !(mark[0] == '`' && strings.Contains(l[len(mark):], "`")):
			fence, at, quoted = mark, indent, false
		default:
			quoted = l != "" && (quoted || strings.HasPrefix(l, ">"))
		}
	}
	return fence != "" || quoted
}
