package proc

// Process is a process that may have ended.
type Process struct {
	PID   int    // 0: not known
	Start string // as of Start; tells two processes of one pid apart
}

// Find returns the process of that id as it runs now.
func Find(pid int) Process {
	if pid <= 0 {
		return Process{}
	}
	return Process{pid, Start(pid)}
}
