package decide

import "strings"

// promise reads what the agent said of the whole loop in its last message:
// <promise>BLOCKED: why</promise> or ESCALATE. It counts only as the last line
// that is not empty, whole, and outside a code fence or quotation, so that
// talking about the words is not saying them.
func promise(message string) (status Status, reason, why string) {
	lines := strings.Split(strings.TrimRight(message, " \t\r\n"), "\n")
	fences := 0
	for _, l := range lines {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") {
			fences++
		}
	}
	last := strings.TrimRight(lines[len(lines)-1], " \t\r")
	if fences%2 == 0 && (last == "RALPH_STATUS: COMPLETE" || last == "EXIT_SIGNAL: true") {
		return Complete, "", "" // as other loops have it
	}
	body, opened := strings.CutPrefix(last, "<promise>")
	body, closed := strings.CutSuffix(body, "</promise>")
	if !opened || !closed || fences%2 == 1 {
		return "", "", ""
	}
	word, why, _ := strings.Cut(body, ":")
	switch strings.TrimSpace(word) {
	case "COMPLETE":
		return Complete, "", ""
	case "BLOCKED":
		return Blocked, PromiseBlocked, strings.TrimSpace(why)
	case "ESCALATE":
		return Escalated, PromiseEscalate, strings.TrimSpace(why)
	}
	return "", "", ""
}
