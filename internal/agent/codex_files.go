package agent

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// afterCodex reads the file that Codex keeps of each session: when the limit is reset, and the model. Codex prints
// neither.
func afterCodex(s *Session, _ string, e *Result) {
	user := cmp.Or(proc.Value(s.Env, "HOME"), proc.Value(s.Env, "USERPROFILE"))
	home := cmp.Or(proc.Value(s.Env, "CODEX_HOME"), filepath.Join(user, ".codex"))
	text := rollout(home, e.Activity.Session)
	model, reset := readRollout(text)
	e.Activity.Model = cmp.Or(e.Activity.Model, model)
	if e.Class == Limit && !reset.IsZero() {
		e.Until = clampReset(reset, time.Now())
	}
}

// rollout returns the end of the file of a thread, "" if there is none.
func rollout(home, thread string) string {
	if !regexp.MustCompile(`^[0-9A-Za-z-]+$`).MatchString(thread) {
		return ""
	}
	files := loopdir.Glob(home, "sessions/*/*/*/rollout-*-"+thread+".jsonl")
	if len(files) == 0 {
		return ""
	}
	text, _ := loopdir.TailAny(slices.Max(files), maxFile) // the path begins with the date
	return string(text)
}

// readRollout returns the model of a session and when its limit is reset, each as the last line about it says. The
// limit is that window of the provider which is used up, or nearest to it.
func readRollout(text string) (model string, reset time.Time) {
	for line := range strings.Lines(text) {
		if _, err := jsontext.Check([]byte(line)); err != nil { // before gjson reads it: nesting could overflow the stack
			continue
		}
		e := event{gjson.Parse(line)}
		if name := e.at("payload.model"); e.Get("type").Str == "turn_context" && name != "" {
			model = name.name()
		}
		if limits := e.Get("payload.rate_limits"); e.Get("payload.type").Str == "token_count" && limits.IsObject() {
			reset = time.Time{}
			used := -1.0
			for _, name := range []string{"primary", "secondary"} {
				window := limits.Get(name)
				if percent := min(window.Get("used_percent").Num, 100); window.IsObject() && percent >= used {
					used, reset = percent, unixTime(window.Get("resets_at"))
				}
			}
		}
	}
	return model, reset
}

// unixTime returns the time of a number of seconds, or zero.
func unixTime(at gjson.Result) time.Time {
	if at.Type != gjson.Number || !(at.Num > 0) {
		return time.Time{}
	}
	return time.Unix(int64(min(at.Num, 1<<40)), 0).UTC()
}

// maxFile is how many bytes of a file of an agent are read, from its end.
const maxFile = 4 << 20
