package proc

import "slices"

// Head keeps the first Limit bytes that are written to it, or a few more, and drops the
// rest. It is meant for the Stdout of a Cmd. It does not embed a bytes.Buffer, because
// io.Copy would then call the buffer's ReadFrom, which has no limit.
type Head struct {
	Limit int
	buf   []byte
}

// Write accepts all of p, even the bytes that it drops.
func (h *Head) Write(p []byte) (int, error) {
	if len(h.buf) < h.Limit {
		if len(h.buf)+len(p) > cap(h.buf) {
			h.buf = slices.Grow(h.buf, len(h.buf)+len(p)) // append alone would copy a long text five times
		}
		h.buf = append(h.buf, p...)
	}
	return len(p), nil
}

// Bytes returns the bytes that were kept.
func (h *Head) Bytes() []byte { return h.buf }
