package decide

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// CompletePromise is the line with which an agent says that all is done.
const CompletePromise = opening + "COMPLETE" + closing

// What is around a built-in promise.
const (
	opening = "<promise>"
	closing = "</promise>"
)

// Words are the words of the built-in promises.
var Words = []string{"COMPLETE", "BLOCKED", "ESCALATE"}

// statusOf is what each of Words says.
var statusOf = map[string]Status{"COMPLETE": Complete, "BLOCKED": Blocked, "ESCALATE": Escalated}

// openPromise returns the word and the reason of the promise that is not closed in a text.
func openPromise(text string) (word, why string) {
	i := strings.LastIndex(text, opening)
	if i < 0 {
		return "", ""
	}
	word, why, _ = strings.Cut(text[i+len(opening):], ":")
	return strings.TrimSpace(word), strings.TrimSpace(why)
}

// Claim is what an agent says about the whole loop with a promise.
type Claim struct {
	Status Status // Complete, Blocked or Escalated; empty: nothing
	Word   string
	Why    string // in one line
}

// Tag returns the promise as the agent writes it.
func (c Claim) Tag() string { return opening + c.Word + closing }

// ClaimOf returns the claim of a promise's word, which may be given with its tags. A word of the agent's own says that
// all is done.
func ClaimOf(promise string) Claim {
	word := strings.TrimSpace(promise)
	word = strings.TrimSuffix(strings.TrimPrefix(word, opening), closing)
	word = strings.ToUpper(strings.TrimSpace(word))
	return Claim{Status: cmp.Or(statusOf[word], Complete), Word: word}
}

// AsksForPerson reports whether a person is needed.
func (c Claim) AsksForPerson() bool { return c.Status == Blocked || c.Status == Escalated }

// Claims returns the promises of what an agent tells a tool, wherever they are: that is only a claim, so a promise that
// is quoted does no harm. Words of the agent's own say that all is done. The one that needs a person most counts.
func Claims(text string, own []string) (counts Claim, all []Claim) {
	urgency := []Status{"", Complete, Escalated, Blocked}
	for {
		before, after, found := strings.Cut(text, closing)
		if !found {
			return counts, all
		}
		text = after
		word, why := openPromise(before)
		c := ClaimOf(word)
		if !slices.Contains(Words, c.Word) && !slices.Contains(own, c.Word) {
			continue
		}
		all = append(all, c)
		if slices.Index(urgency, c.Status) <= slices.Index(urgency, counts.Status) {
			continue
		}
		counts = c
		if c.AsksForPerson() {
			paragraph, _, _ := strings.Cut(after, "\n\n")
			counts.Why = cmp.Or(plain.Line(why, 500), plain.Line(paragraph, 500))
		}
	}
}

// EndWith has the words with which a prompt asks for such a line. The line comes at most two lines further down.
const EndWith = "end your message with this line on its own"

// Promise is a line that a person adds to the built-in ones. The agent writes it to say how the
// loop stands.
type Promise struct {
	Status  Status         // Complete, Blocked or Escalated
	Pattern *regexp.Regexp // matches a whole line; its first group, if it has one, is the reason
}

// ReadPromise reads what a final answer says about the whole loop: a promise of a person's own, or
// <promise>COMPLETE</promise>, <promise>BLOCKED: why</promise>, the same with ESCALATE, or the
// status block that other loops use. A person's own promise must be the whole last line that is
// not empty; the built-in one may follow words there, and be bold or in backticks. The block must
// be the last lines. None may be in a code fence or a quotation, or stand where a prompt asks for it,
// so that an agent can write about promises, or print its prompt, without making one. status is
// empty if there is no promise.
func ReadPromise(message string, promises []Promise) (status Status, why string) {
	lines := strings.Split(strings.TrimRight(message, " \t\r\n"), "\n")
	last := strings.TrimRight(lines[len(lines)-1], " \t\r")
	before := lines[:len(lines)-1]
	if inFenceOrQuote(before) || strings.Contains(strings.Join(before[max(0, len(before)-2):], "\n"), EndWith) {
		return "", ""
	}
	for _, p := range promises {
		if found := p.Pattern.FindStringSubmatch(last); found != nil {
			return p.Status, strings.TrimSpace(strings.Join(found[1:min(2, len(found))], ""))
		}
	}
	if last == promisedStatus {
		return Complete, ""
	}
	if block := statusBlock(lines); block >= 0 && !strings.Contains(last, opening) {
		return readStatusBlock(lines[block+1:])
	}
	body, closed := strings.CutSuffix(strings.TrimRight(last, "*_`."), closing)
	if !closed || strings.HasPrefix(strings.TrimSpace(last), ">") {
		return "", ""
	}
	word, why := openPromise(body)
	status = statusOf[word]
	if status == "" || status == Complete {
		why = ""
	}
	return status, why
}

// MisplacedPromise reports whether a final answer has a promise where it says nothing.
func MisplacedPromise(message string, promises []Promise) bool {
	if status, _ := ReadPromise(message, promises); status != "" {
		return false
	}
	lines := strings.Split(strings.TrimRight(message, " \t\r\n"), "\n")
	block := statusBlock(lines) < 0 && strings.Contains(message, "EXIT_SIGNAL: true")
	for _, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		own := func(p Promise) bool { return p.Pattern.MatchString(line) }
		switch {
		case strings.Contains(line, opening) && strings.Contains(line, closing), line == promisedStatus,
			line == statusBegin && block, slices.ContainsFunc(promises, own):
			return true
		}
	}
	return false
}

// promisedStatus is CompletePromise as other loops have it.
const promisedStatus = "RALPH_STATUS: COMPLETE"

// The first and the last line of a block of status lines.
const (
	statusBegin = "---RALPH_STATUS---"
	statusEnd   = "---END_RALPH_STATUS---"
)

// statusBlock returns the index of the first line of the block of status lines with which
// a message ends, or -1 if it does not end with one. The block's last line may be lacking.
func statusBlock(lines []string) int {
	for n := len(lines) - 1; n >= 0; n-- {
		switch strings.TrimRight(lines[n], " \t\r") {
		case statusBegin:
			return n
		case statusEnd:
			if n < len(lines)-1 {
				return -1
			}
		}
	}
	return -1
}

// readStatusBlock reads what follows the first line of the block. It says that all is done
// only if no line of it contradicts that.
func readStatusBlock(lines []string) (status Status, why string) {
	exit, said := "", ""
	for _, line := range lines {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch key {
		case "EXIT_SIGNAL":
			if exit == "" || exit == "true" {
				exit = strings.ToLower(value)
			}
		case "STATUS":
			if said == "" || said == "COMPLETE" {
				said = strings.ToUpper(value)
			}
		case "RECOMMENDATION":
			why = value
		}
	}
	switch {
	case said == "BLOCKED":
		return Blocked, why
	case exit == "true" && (said == "" || said == "COMPLETE"):
		return Complete, ""
	}
	return "", ""
}

// inFenceOrQuote reports whether the line after these is in a code fence or continues a quotation,
// by the rules of CommonMark.
func inFenceOrQuote(lines []string) bool {
	fence := ""
	at := 0
	quoted := false
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
			fence = mark
			at = indent
			quoted = false
		default:
			quoted = l != "" && (quoted || strings.HasPrefix(l, ">"))
		}
	}
	return fence != "" || quoted
}
