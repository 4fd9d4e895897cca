//go:build unix && !linux && !darwin

package proc

// Start returns nothing: here the system does not tell in a simple way when a
// process started, and the lease alone bounds a sender.
func Start(int) string { return "" }

// Known tells whether start, which another process said of itself, can be
// compared with what Start says here.
func Known(start string) bool { return start != "" }
