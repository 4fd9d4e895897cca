package agent

import "bytes"

// Told returns what the agent's output tells a person: a line for each text and each use of a tool, at most the last
// most of them. log may begin in the middle of a line; cut says that it does.
func (r Row) Told(log []byte, cut bool, most int) (told []string) {
	if cut {
		_, log, _ = bytes.Cut(log, []byte("\n"))
	}
	t := &teller{Parser: formatOf(r.Output).parser(), most: most}
	lines := &Lines{Parser: t}
	_, _ = lines.Write(log)
	_ = lines.Close()
	return t.told[max(0, len(t.told)-most):]
}

// teller is a Parser that keeps what was heard.
type teller struct {
	Parser
	last Heard
	most int
	told []string
}

func (t *teller) Line(line []byte, cut bool) {
	t.Parser.Line(line, cut)
	h := t.Heard()
	if h.Text != "" && h.Text != t.last.Text {
		t.add(h.Text)
	}
	if h.Tool != "" && h.Tool != t.last.Tool {
		t.add("→ " + h.Tool)
	}
	t.last = h
}

func (t *teller) add(text string) {
	t.told = append(t.told, text)
	if len(t.told) > 2*t.most {
		t.told = append(t.told[:0], t.told[len(t.told)-t.most:]...)
	}
}
