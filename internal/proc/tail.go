package proc

// Tail keeps the last Limit bytes that are written to it. It never holds more than twice as
// many.
type Tail struct {
	Limit int
	buf   []byte
}

func (t *Tail) Write(p []byte) (int, error) {
	n := len(p)
	p = p[max(0, n-t.Limit):]
	if len(t.buf)+len(p) > 2*t.Limit {
		t.buf = append(t.buf[:0], t.Bytes()...)
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// Bytes returns the bytes that were kept.
func (t *Tail) Bytes() []byte {
	return t.buf[max(0, len(t.buf)-t.Limit):]
}
