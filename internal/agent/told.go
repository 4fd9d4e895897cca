package agent

import "bytes"

// Told returns what the agent's output tells a person: a line for each text and each use of a tool, at most the last
// most of them. log may begin in the middle of a line; cut says that it does.
func (r Row) Told(log []byte, cut bool, most int) (told []string) {
	if cut {
		_, log, _ = bytes.Cut(log, []byte("\n"))
	}
	t := &teller{Parser: formatOf(r.Output).parser()}
	lines := &Lines{Parser: t}
	_, _ = lines.Write(log)
	lines.Close()
	return t.told[max(0, len(t.told)-most):]
}

// teller is a Parser that keeps what was heard.
type teller struct {
	Parser
	last Heard
	told []string
}

func (t *teller) Line(line []byte, cut bool) {
	t.Parser.Line(line, cut)
	h := t.Heard()
	if h.Text != "" && h.Text != t.last.Text {
		t.told = append(t.told, h.Text)
	}
	if h.Tool != "" && h.Tool != t.last.Tool {
		t.told = append(t.told, "→ "+h.Tool)
	}
	t.last = h
}
