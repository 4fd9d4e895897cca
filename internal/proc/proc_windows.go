package proc

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/windows"
)

// TempDir is the folder for temporary files if no variable names one; "": the system tells it.
const TempDir = ""

var shell = []string{"cmd.exe"}

// shellLine passes the line to cmd.exe without quoting, because cmd.exe does not understand
// the quoting that Go uses for arguments.
func shellLine(cmd *exec.Cmd, line string) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + line + `"`}
}

// detached starts a program without the console and the process group of this process, so
// that the end of either does not end the program.
var detached = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}

// ownSession does nothing: a job has no terminal of its own to leave.
func ownSession(*exec.Cmd) {}

// canAsk says that no program can be asked to end.
const canAsk = false

func askGroup() {}

func exitStatus(s *os.ProcessState) int { return s.ExitCode() }

// killGroup ends only this process. Its job belongs to its parent.
func killGroup() { os.Exit(1) }

// grouped is a job object. To terminate the job also kills what the subprocess started; to
// kill only the subprocess would leave that running.
type grouped struct {
	cmd *exec.Cmd
	mu  sync.Mutex // guards job, because Cancel may run during started
	job windows.Handle
}

// group makes cmd's Cancel terminate a job. started creates the job.
func group(cmd *exec.Cmd) *grouped {
	g := &grouped{cmd: cmd}
	cmd.Cancel = func() error {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.job != 0 {
			return windows.TerminateJobObject(g.job, 1)
		}
		return cmd.Process.Kill()
	}
	return g
}

// started creates the job and puts the subprocess into it.
func (g *grouped) started() {
	g.mu.Lock()
	defer g.mu.Unlock()
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return // Cancel then kills only the subprocess
	}
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE
	process, err := windows.OpenProcess(access, false, uint32(g.cmd.Process.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, process)
		windows.CloseHandle(process)
	}
	if err != nil {
		windows.CloseHandle(job)
		return
	}
	g.job = job
}

// done closes the job.
func (g *grouped) done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
}

// Start returns the start time of the process pid as a text that can only be compared. It
// is empty if the system does not tell.
func Start(pid int) string {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(process)
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(process, &created, &exited, &kernel, &user) != nil {
		return ""
	}
	return strconv.FormatInt(created.Nanoseconds(), 10)
}

// stillActive is the exit code of a process that still runs (STILL_ACTIVE).
const stillActive = 259

// Alive reports whether the process pid still runs. start is the result of Start in that
// process, or empty; it tells the process from a later one with the same pid.
func Alive(pid int, start string) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return true // a process of another user, or an elevated one
	}
	if err != nil {
		return false
	}
	defer windows.CloseHandle(process)
	var code uint32
	if windows.GetExitCodeProcess(process, &code) != nil || code != stillActive {
		return false
	}
	now := Start(pid)
	return start == "" || now == "" || now == start
}
