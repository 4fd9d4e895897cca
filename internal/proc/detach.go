package proc

import "os/exec"

// Detach starts a program that outlives this process and whoever ends its
// group. It has no input and no output. done is closed when it has ended, if
// somebody still waits for that.
func Detach(argv []string, dir string, env []string) (done <-chan struct{}, err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, env, detached
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer func() {
			_ = recover() // a panic here would end the hook with 2
			close(ended)
		}()
		_ = cmd.Wait() // how it ended is in what it wrote
	}()
	return ended, nil
}
