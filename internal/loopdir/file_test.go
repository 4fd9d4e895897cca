package loopdir

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// What two threads read is what is there, also of a file that has shrunk since its
// size was asked for.
func TestReadAt(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcde"), longFile/5)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{10, longFile - 1, longFile, longFile + 1, len(text), len(text) + 1, len(text) * 3 / 2, len(text) * 3} {
		data := make([]byte, size)
		n, err := readAt(f, data)
		if want := min(size, len(text)); n != want || !bytes.Equal(data[:n], text[:want]) {
			t.Errorf("%d bytes asked for: %d read, not as they are", size, n)
		}
		if short := size > len(text); short != (err == io.EOF) || !short && err != nil {
			t.Errorf("%d bytes asked for: %v", size, err)
		}
	}
}
