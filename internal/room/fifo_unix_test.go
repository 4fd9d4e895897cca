//go:build unix

package room

import "syscall"

func makeFIFO(w *world, name string) {
	w.Helper()
	w.must(syscall.Mkfifo(w.at(name), 0o644))
}
