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

var shell = []string{"cmd.exe"}

// shellLine hands line over as it is: cmd.exe does not undo the quoting that Go
// puts around arguments.
func shellLine(cmd *exec.Cmd, line string) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + line + `"`}
}

// detached has no console and no group, so that neither ends it.
var detached = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}

// killGroup ends this process alone: the job it is in is its parent's.
func killGroup() { os.Exit(1) }

// grouped is a job object: killing it kills what the subprocess started, which
// killing the subprocess alone would leave running.
type grouped struct {
	cmd *exec.Cmd
	mu  sync.Mutex // Cancel may come while started runs
	job windows.Handle
}

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

func (g *grouped) started() {
	g.mu.Lock()
	defer g.mu.Unlock()
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return // Cancel then kills the subprocess alone
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.cmd.Process.Pid))
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

func (g *grouped) done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
}

// Start returns when the process pid started, in a form that is only good for
// comparing; empty where the system does not tell.
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

// stillActive is the exit code of a process that runs (STILL_ACTIVE).
const stillActive = 259

// Alive tells whether the process pid, which said of itself Start, still runs.
func Alive(pid int, start string) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return true // somebody else's, or an elevated one
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
