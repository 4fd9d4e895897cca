package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

func init() { commands["client"] = func() { os.Exit(clientMain(os.Args[1])) } }

// clientMain plays a client: client SCRIPT. Each line of the script is a call of host or start, or "agent: " and a line
// that the agent has its shell run. The client lives as long as the script.
func clientMain(script string) int {
	text, err := os.ReadFile(script)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	os.Setenv("CLAUDE_PID", fmt.Sprint(os.Getpid()))
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		words := strings.Fields(line)
		agents, byAgent := strings.CutPrefix(line, "agent: ")
		switch {
		case byAgent:
			fmt.Printf("agent: %s\n", agents)
			cmd := exec.Command("sh", "-c", agents)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
			cmd.Env = append(os.Environ(), "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s1")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			err = cmd.Run()
		case words[0] == "start":
			fmt.Println(line)
			err = status(start(words[1:]))
		default:
			fmt.Println(line)
			err = status(hostMain(words[1:]))
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", line, err)
			return 1
		}
	}
	return 0
}

func status(code int) error {
	if code != 0 {
		return fmt.Errorf("exit status %d", code)
	}
	return nil
}
