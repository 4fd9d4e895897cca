package proc

// tail keeps the last limit bytes that are written to it. It never holds more than twice as
// many.
type tail struct {
	limit int
	buf   []byte
}

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > t.limit {
		p = p[len(p)-t.limit:]
	}
	if len(t.buf)+len(p) > 2*t.limit {
		t.buf = append(t.buf[:0], t.bytes()...)
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

func (t *tail) bytes() []byte {
	return t.buf[max(0, len(t.buf)-t.limit):]
}
