package main

import "os/exec"

func asUser(*exec.Cmd, string) {}

func peak(*exec.Cmd) int { return 0 }
