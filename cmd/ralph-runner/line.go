package main

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// refresh is how often the changing line is drawn.
const refresh = 250 * time.Millisecond

// clearLine takes away the line in which a terminal's cursor is (ECMA-48).
const clearLine = "\r" + ansi.EraseEntireLine

// changingLine is the last line of a terminal, which changes in place. What is written goes above it.
type changingLine struct {
	file *os.File
	text func(time.Time) string
	stop chan struct{}

	mu sync.Mutex // guards the terminal
}

// newChangingLine draws text at the end of a terminal until close.
func newChangingLine(file *os.File, text func(time.Time) string) *changingLine {
	l := &changingLine{file: file, text: text, stop: make(chan struct{})}
	go func() {
		for {
			select {
			case <-l.stop:
				return
			case <-time.After(refresh):
				_, _ = l.Write(nil)
			}
		}
	}()
	return l
}

// Write writes whole lines above the changing line.
func (l *changingLine) Write(lines []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.stop:
		return l.file.Write(lines)
	default:
	}
	width, _, err := term.GetSize(int(l.file.Fd()))
	if err != nil {
		return l.file.Write(lines)
	}
	// The last column stays free: some terminals would begin a new line after it.
	now := ansi.Truncate(l.text(time.Now()), max(0, width-1), "…")
	_, err = io.WriteString(l.file, clearLine+string(lines)+now)
	return len(lines), err
}

// fold breaks a line between words where the terminal ends. first stands before it.
func (l *changingLine) fold(first, text string) string {
	width, _, err := term.GetSize(int(l.file.Fd()))
	if room := width - 1 - len(first); err == nil && room > 0 {
		text = ansi.Wrap(text, room, "")
	}
	return first + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", len(first)))
}

// close takes the changing line away.
func (l *changingLine) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.stop)
	_, _ = io.WriteString(l.file, clearLine)
}
