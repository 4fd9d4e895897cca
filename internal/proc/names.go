package proc

import (
	"slices"
	"strings"
)

// IsTerminal reports whether a variable is one of a terminal or of a login, and differs in each of them.
func IsTerminal(name string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return slices.ContainsFunc(terminalPrefixes, begins) || isOneOf(name, terminalNames)
}

var (
	terminalPrefixes = []string{"TERM_", "VSCODE_", "__CF", "SSH_", "TMUX"}
	terminalNames    = []string{
		"_", "SHLVL", "PWD", "OLDPWD", "COLUMNS", "LINES", "WINDOWID", "WT_SESSION", "XDG_SESSION_ID", "STY",
		"GPG_TTY", "SHELL", "COLORTERM", "LS_COLORS", "LESSOPEN", "LESSCLOSE",
	}
)

// IsDesktop reports whether a variable is the desktop's, the user's or the language's, and no key or token.
func IsDesktop(name string) bool { return isOneOf(name, desktopNames) }

var desktopNames = []string{
	"LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME", "LANG", "TZ",
	"USER", "LOGNAME", "TMPDIR", "TEMP", "TMP", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY",
	"WAYLAND_DISPLAY",
}

func isOneOf(name string, names []string) bool {
	return slices.ContainsFunc(names, func(one string) bool { return SameName(one, name) })
}
