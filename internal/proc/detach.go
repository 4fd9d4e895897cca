package proc

import "os/exec"

// Detach starts a program that outlives this process, even if somebody kills this process's
// group. The program has no input and no output. done is closed when the program has ended,
// if this process still runs then.
func Detach(argv []string, dir string, env []string) (done <-chan struct{}, err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, env, detached
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
