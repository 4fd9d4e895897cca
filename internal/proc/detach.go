package proc

import (
	"os/exec"
	"path/filepath"
	"strings"
)

// Job is what a program starts itself for. The job is in argv[0], so that no words of a
// call can ask for it: an agent that may call the program may choose those. A Job is how
// that argv[0] begins.
type Job string

// The jobs.
const (
	GuardJob   Job = "[guard]/"    // call the function Guard
	ConfineJob Job = "[confined]/" // become a check that writes only to some folders
	SendJob    Job = "[send]/"     // tell the notifiers
)

// JobOf returns the job that argv[0] names, or "" for an ordinary call.
func JobOf(argv0 string) Job {
	for _, job := range []Job{GuardJob, ConfineJob, SendJob} {
		if strings.HasPrefix(argv0, string(job)) {
			return job
		}
	}
	return ""
}

// Argv0 returns the argv[0] of a process of the program self that does the job. A Cmd with
// it runs this program.
func (j Job) Argv0(self string) string {
	_, name := filepath.Split(self)
	return string(j) + name
}

// Detach starts the program self for a job. The process outlives this one, even if somebody
// kills this process's group. It has no input and no output. done is closed when it has
// ended, if this process still runs then.
func Detach(self string, job Job, args []string, dir string, env []string) (done <-chan struct{}, err error) {
	cmd := exec.Command(self, args...)
	cmd.Args[0] = job.Argv0(self)
	cmd.Dir = dir
	cmd.Env = env
	cmd.SysProcAttr = detached
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer func() {
			_ = recover() // a panic here would end the hook with exit status 2
			close(ended)
		}()
		_ = cmd.Wait() // the program's files tell how it ended
	}()
	return ended, nil
}
