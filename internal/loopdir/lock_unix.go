//go:build unix && !linux

package loopdir

import "os"

// tryLock takes the lock, or returns false if another process holds it.
func tryLock(f *os.File) (bool, error) { return flock(f) }

// heldByReader returns false: this system does not tell who holds a lock.
func heldByReader(*os.File) bool { return false }
