package proc

// Head keeps the first Limit bytes that are written, or a few more; the rest is
// lost. It is for the Stdout of a Cmd. (Not a bytes.Buffer inside: what copies to
// it would find that one's ReadFrom, which takes all there is.)
type Head struct {
	Limit int
	buf   []byte
}

// Write takes all of p, whatever is kept of it.
func (h *Head) Write(p []byte) (int, error) {
	if len(h.buf) < h.Limit {
		h.buf = append(h.buf, p...)
	}
	return len(p), nil
}

// Bytes returns what is kept.
func (h *Head) Bytes() []byte { return h.buf }
