package loop

import (
	"path"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/held"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Nobody may silence an ending by editing a notifier's script. So a copy of each script is kept
// beside the record. If the script has changed, the copy runs.

// maxScript is the largest script that is kept, in bytes.
const maxScript = 1 << 20

// SetTrust records what a person has trusted, and keeps copies of the notifiers' scripts. path is
// as in loopdir.Store.SetTrust. The caller holds the lock.
func (l *Loop) SetTrust(t config.Trust, path string) error {
	if err := l.Store.SetTrust(t, path); err != nil {
		return err
	}
	c, err := config.Parse([]byte(t.Text))
	if err != nil {
		return err
	}
	texts := map[string][]byte{}
	for _, key := range held.Keys(l.At.Project, l.Env.Home, t.Files, t.Calls, c.Notifiers...) {
		sum := held.TextSum(t.Files[key])
		if held.File(key) != key || sum == "" {
			continue
		}
		texts[scriptName(key, sum)] = nil
		text, err := loopdir.ReadAny(held.At(l.At.Project, key), maxScript)
		if err == nil && held.Digest(text) == sum {
			texts[scriptName(key, sum)] = text
		}
	}
	return l.Store.KeepScripts(texts)
}

// scriptName returns the name of the kept copy of a held file.
func scriptName(key, sum string) string { return sum[:16] + "-" + path.Base(key) }

// AsTrusted returns the command with the kept copies instead of the scripts that have changed. The
// result is false if that cannot be done.
func (p *Picture) AsTrusted(c config.Command) (config.Command, bool) {
	copies := map[string]string{} // by key
	for _, key := range p.HeldFor(c) {
		if !held.Changed(p.Loop.At.Project, key, p.Config.Files[key]) {
			continue
		}
		sum := held.TextSum(p.Config.Files[key])
		if sum == "" {
			return c, false
		}
		kept := p.Loop.Store.ScriptPath(scriptName(key, sum))
		if now, _, err := held.HashFile(kept); err != nil || now != sum {
			return c, false
		}
		copies[key] = kept
	}
	return held.Replace(c, p.Loop.At.Project, p.Loop.Env.Home, copies)
}
