package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestHostileRepository takes a lane through its life in a repository that names programs wherever git knows to run
// one. None runs. Before each step an agent plants them again, in the lane's folder, too.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell for the programs")
	}
	w := newWorld(t, "")
	pwned := filepath.Join(filepath.Dir(w.top), "pwned")
	program := filepath.Join(filepath.Dir(w.top), "program")
	w.ok(os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+pwned+"'\n"), 0o755))
	attributes := "* filter=own merge=own diff=own\n"
	w.write(w.project, ".gitattributes", attributes) // before the filter is set up, so that Ready is content
	w.git(w.top, "add", "-A")
	w.git(w.top, "commit", "-qm", "Attributes")
	r := w.open()
	w.ok(r.Ready(t.Context()))
	plant := func() {
		var config strings.Builder
		for _, key := range []string{
			"core.fsmonitor", "core.editor", "core.pager", "core.sshCommand", "core.askPass", "core.gitProxy",
			"core.alternateRefsCommand", "sequence.editor", "gpg.program", "gpg.ssh.program", "diff.external",
			"diff.own.textconv", "diff.own.command", "filter.own.clean", "filter.own.smudge", "filter.own.process",
			"merge.own.driver", "merge.tool", "credential.helper", "uploadpack.packObjectsHook", "interactive.diffFilter",
			"trailer.own.command", "trailer.own.cmd", "alias.add", "alias.worktree", "alias.read-tree", "alias.merge-tree",
			"alias.update-ref", "pager.log", "hook.own.command", "sendemail.sendmailCmd", "gc.recentObjectsHook",
		} {
			section, name, _ := strings.Cut(key, ".")
			if sub, last, is := strings.Cut(name, "."); is {
				section, name = section+" \""+sub+"\"", last
			}
			fmt.Fprintf(&config, "[%s]\n\t%s = %s\n", section, name, program)
		}
		for _, dir := range []string{w.top, filepath.Join(w.lanes, "lane-1")} {
			git := filepath.Join(dir, ".git")
			if _, err := os.Stat(git); err != nil {
				continue
			}
			w.write(git, "included", config.String())
			w.write(git, "config.worktree", "[filter \"own\"]\n\tclean = "+program+"\n")
			w.write(git, "config", "[core]\n\trepositoryformatversion = 0\n\tworktree = "+t.TempDir()+
				"\n\thooksPath = "+filepath.Join(git, "own-hooks")+"\n[extensions]\n\tworktreeConfig = true\n"+
				"[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n[gc]\n\tauto = 1\n"+
				"[filter \"own\"]\n\trequired = true\n[include]\n\tpath = included\n"+config.String())
			for _, hook := range []string{
				"post-checkout", "pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "reference-transaction",
				"post-index-change", "post-rewrite", "pre-merge-commit", "post-merge", "pre-auto-gc", "fsmonitor-watchman",
			} {
				for _, hooks := range []string{"hooks", "own-hooks"} {
					w.write(git, hooks+"/"+hook, "#!/bin/sh\necho "+hook+" >>'"+pwned+"'\n")
					w.ok(os.Chmod(filepath.Join(git, hooks, hook), 0o755))
				}
			}
			w.write(git, "info/attributes", attributes)
		}
	}
	quiet := func(what string) {
		t.Helper()
		if text, err := os.ReadFile(pwned); err == nil {
			t.Errorf("%s ran programs of the repository:\n%s", what, text)
			w.ok(os.Remove(pwned))
		}
		plant()
	}
	plant()
	_ = r.Ready(t.Context())
	quiet("Ready")
	r2, err := Open(t.Context(), w.options())
	w.ok(err)
	defer r2.Close()
	quiet("Open")
	_, err = r2.Backup(t.Context(), "x")
	w.ok(err)
	quiet("Backup")
	lane, err := r2.Add(t.Context(), filepath.Join(w.lanes, "lane-1"), "ralph/lane-1", w.head())
	w.ok(err)
	quiet("Add")
	w.write(lane.Project(), "a.txt", "lane\n")
	w.git(lane.Project(), "-c", "core.hooksPath=none", "-c", "core.worktree="+lane.dir, "-c", "filter.own.required=false",
		"-c", "core.fsmonitor=false", "-c", "filter.own.clean=cat", "-c", "filter.own.process=", "-c", "user.name=x",
		"-c", "user.email=x@y", "-c", "commit.gpgSign=false", "commit", "-qam", "The agent's")
	_ = os.Remove(pwned)
	w.write(lane.Project(), "a.txt", "lane\n")
	w.write(lane.Project(), "nested/.git/config", "[core]\n\tfsmonitor = "+program+"\n")
	w.ok(os.RemoveAll(filepath.Join(lane.Project(), "nested")))
	commit := w.commit(lane)
	quiet("Commit")
	old := w.head()
	m, err := r2.Merge(t.Context(), old, Work{Commit: commit, Base: lane.Base(), Feature: "f"})
	w.ok(err)
	quiet("Merge")
	w.ok(r2.Forward(t.Context(), old, m.Commit))
	w.want("the file", w.read(w.project, "a.txt"), "lane\n")
	quiet("Forward")
	w.ok(r2.Recover(t.Context(), old, m.Commit))
	quiet("Recover")
	_, _, err = r2.Join(t.Context(), old, m.Commit)
	w.ok(err)
	quiet("Join")
	w.write(lane.Project(), "a.txt", "more\n")
	_, err = lane.Update(t.Context(), m.Commit)
	w.ok(err)
	quiet("Update")
	bundle := filepath.Join(t.TempDir(), "bundle")
	w.ok(r2.Bundle(t.Context(), bundle, m.Commit, w.commit(lane)))
	_, err = r2.Import(t.Context(), bundle, 1<<20, w.head())
	w.ok(err)
	quiet("Bundle and Import")
	w.ok(lane.Reset(t.Context(), m.Commit))
	quiet("Reset")
	w.ok(lane.Remove(t.Context(), w.head()))
	quiet("Remove")
	// The control: git itself would run some of them.
	_, _ = w.try(w.top, "--work-tree="+w.top, "status")
	if _, err := os.ReadFile(pwned); err != nil {
		t.Error("control: git status ran none of the programs")
	}
}

// TestNested commits in a lane in which an agent has planted a repository whose configuration names a filter. With it
// in the index, git would run git status there.
func TestNested(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell for the programs")
	}
	w := newWorld(t, "")
	w.open()
	lane := w.lane("lane-1")
	pwned := filepath.Join(t.TempDir(), "pwned")
	nested := filepath.Join(lane.Project(), "lib")
	w.git(lane.Project(), "init", "-q", "lib")
	w.write(nested, "x", "x")
	w.write(nested, ".gitattributes", "* filter=own\n")
	w.git(nested, "add", "-A")
	w.git(nested, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x")
	w.git(lane.Project(), "add", "-A")
	w.git(lane.Project(), "commit", "-qm", "A pointer")
	w.git(nested, "config", "filter.own.clean", "touch '"+pwned+"'; cat")
	w.write(nested, "x", "y")
	for range 3 {
		_, _, err := lane.Commit(t.Context(), "x")
		w.refused(err, "is a git repository of its own")
		w.refused(lane.Remove(t.Context(), w.head()), "is a git repository of its own")
		w.write(nested, "x", "z")
	}
	if _, err := os.Stat(pwned); err == nil {
		t.Error("git ran a filter of the nested repository")
	}
	_, _ = w.try(lane.Project(), "status") // the control
	if _, err := os.Stat(pwned); err != nil {
		t.Error("control: git status did not run the filter")
	}
	w.ok(lane.Reset(t.Context(), w.head()))
	w.want("the nested repository", w.read(nested, "x"), "none")
}
