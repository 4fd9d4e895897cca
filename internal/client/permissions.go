package client

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Refuses reports whether a session that nobody watches can neither edit files nor run commands:
// its mode is one that asks, and no settings file allows a tool for either. mode is that of the
// command line, "" if it has none. Measured with 2.1.329: "default", "plan" and "dontAsk" refused
// both in -p, "acceptEdits" and "auto" did not.
func (in Install) Refuses(mode string) bool {
	for _, scope := range []string{"local", "project", "user"} {
		for _, path := range in.Files(scope) {
			text, err := loopdir.ReadAny(path, MaxBytes)
			if err != nil {
				continue
			}
			text, err = jsontext.Check(text)
			if err != nil {
				continue // the client ignores that file, too
			}
			permissions := gjson.GetBytes(text, "permissions")
			if said := permissions.Get("defaultMode").Str; mode == "" {
				mode = said // the narrowest scope wins
			}
			for _, rule := range permissions.Get("allow").Array() {
				if tool, _, _ := strings.Cut(rule.Str, "("); tool == "Edit" || tool == "Write" || tool == "Bash" {
					return mode == "plan"
				}
			}
		}
	}
	return mode == "" || mode == "default" || mode == "plan" || mode == "dontAsk"
}
