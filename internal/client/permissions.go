package client

import (
	"cmp"
	"slices"
	"strings"
)

// Permissions are what a session that nobody watches may do: its mode, and the rules that allow tools.
type Permissions struct {
	mode  string
	allow []string
}

// Permissions returns what settings files and a command line allow. mode and allow are those of the command line.
func (in Install) Permissions(mode string, allow []string) Permissions {
	p := Permissions{mode, allow}
	for _, file := range in.Settings("local", "project", "user") {
		p.mode = cmp.Or(p.mode, file.Permissions.Get("defaultMode").Str) // the narrowest scope wins
		for _, rule := range file.Permissions.Get("allow").Array() {
			p.allow = append(p.allow, rule.Str)
		}
	}
	return p
}

// RefuseAll reports whether the session can neither edit files nor run commands: its mode is one that asks, and no rule
// allows a tool for either. Measured with 2.1.329: "default", "plan" and "dontAsk" refused both in -p, "acceptEdits"
// and "auto" did not.
func (p Permissions) RefuseAll() bool {
	works := func(rule string) bool {
		tool, _, _ := strings.Cut(rule, "(")
		return tool == "Edit" || tool == "Write" || tool == "Bash"
	}
	return p.mode == "plan" || p.asks() && p.mode != "acceptEdits" && !slices.ContainsFunc(p.allow, works)
}

// asks reports whether the mode asks before a command.
func (p Permissions) asks() bool {
	return slices.Contains([]string{"", "default", "dontAsk", "acceptEdits"}, p.mode)
}

// Refuse reports whether the session may not run a shell command. Some that only read need no rule.
func (p Permissions) Refuse(command string) bool {
	name, _, _ := strings.Cut(command, " ")
	reads := []string{"cat", "diff", "echo", "grep", "head", "ls", "pwd", "tail", "true", "wc"}
	allows := func(rule string) bool {
		of, is := strings.CutPrefix(rule, "Bash")
		of = strings.TrimSuffix(strings.TrimPrefix(of, "("), ")")
		start, more := strings.CutSuffix(of, ":*")
		if !more {
			start, more = strings.CutSuffix(of, "*")
		}
		return is && (of == "" || of == command || more && strings.HasPrefix(command, start))
	}
	return p.asks() && !slices.Contains(reads, name) && !slices.ContainsFunc(p.allow, allows)
}
