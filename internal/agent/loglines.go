package agent

import "bytes"

// LogLines returns what the agent's output tells a person: a line for each text and each use of a tool, at most the
// last most of them. log may begin in the middle of a line; cut says that it does.
func (r Row) LogLines(log []byte, cut bool, most int) (told []string) {
	if cut {
		_, log, _ = bytes.Cut(log, []byte("\n"))
	}
	t := &lineCollector{Parser: formatOf(r.Output).parser()}
	lines := &Lines{Parser: t}
	_, _ = lines.Write(log)
	lines.Close()
	return t.lines[max(0, len(t.lines)-most):]
}

// lineCollector is a Parser that keeps what was heard.
type lineCollector struct {
	Parser
	last  Activity
	lines []string
}

func (t *lineCollector) Line(line []byte, cut bool) {
	t.Parser.Line(line, cut)
	h := t.Activity()
	if h.Text != "" && h.Text != t.last.Text {
		t.lines = append(t.lines, h.Text)
	}
	if h.Tool != "" && h.Tool != t.last.Tool {
		t.lines = append(t.lines, "→ "+h.Tool)
	}
	t.last = h
}
