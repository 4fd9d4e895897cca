//go:build unix

package proof

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
)

func (w *world) makeFIFO(path string) {
	w.Helper()
	w.must(syscall.Mkfifo(path, 0o644))
}

// makeSocket makes a socket. It moves it, since a socket is made only at a short path.
func (w *world) makeSocket(path string) {
	w.Helper()
	dir, err := os.MkdirTemp("", "s")
	w.must(err)
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "s")
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	w.must(err)
	socket.SetUnlinkOnClose(false)
	w.must(os.Rename(at, path))
	w.must(socket.Close())
}
