//go:build unix && !linux

package loopdir

import "os"

// TryLock takes the lock in a file that is open for writing, or returns false if another open
// file has it. Closing the file frees the lock.
func TryLock(f *os.File) (bool, error) { return flock(f) }

// awaitLock is TryLock that waits.
func awaitLock(f *os.File, _ <-chan struct{}) error { return awaitFlock(f) }

// heldByReader returns false: this system does not tell who holds a lock.
func heldByReader(*os.File) bool { return false }
