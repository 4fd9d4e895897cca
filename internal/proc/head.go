package proc

import "bytes"

// Head keeps the first Limit bytes that are written, or a few more; the rest is
// lost. It is for the Stdout of a Cmd.
type Head struct {
	bytes.Buffer
	Limit int
}

// Write takes all of p, whatever is kept of it.
func (h *Head) Write(p []byte) (int, error) {
	if h.Len() < h.Limit {
		h.Buffer.Write(p)
	}
	return len(p), nil
}
