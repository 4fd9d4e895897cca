package worktree

import "testing"

func TestMessageAfterHooks(t *testing.T) {
	w := Work{Message: "a First", Feature: "a", More: []string{"Ralph-Agent: claude"}}
	const ours = "Ralph-Feature: a\nRalph-Agent: claude\n"
	for said, want := range map[string]string{
		w.text():                                 "a First\n\n" + ours,
		"a First\r\n\r\n" + ours:                 "a First\n\n" + ours,
		w.text() + "Change-Id: I1\n":             "a First\n\n" + ours + "Change-Id: I1\n",
		w.text() + "\nSeen.\n":                   "a First\n\nSeen.\n\n" + ours,
		w.text() + "Seen.\n":                     "a First\n\nSeen.\n\n" + ours,
		w.text() + "\nSigned-off-by: me <a@b>\n": "a First\n\nSigned-off-by: me <a@b>\n" + ours,
		"feat: a":                                "feat: a\n\n" + ours,
		"a First\n\nRalph-Feature: b\n":          "a First\n\n" + ours,
		"":                                       "Work on a\n\n" + ours,
	} {
		if got := w.after(said); got != want {
			t.Errorf("hooks made %q, and the message is %q, want %q", said, got, want)
		}
	}
}
