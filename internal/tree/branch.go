package tree

import (
	"context"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Branch returns the branch that is checked out in a folder of a repository, on one line, or "" for
// none.
func Branch(env []string, dir string) string {
	return line(env, dir, "symbolic-ref", "-q", "--short", "HEAD")
}

// Head returns the id of the commit that is checked out in a folder of a repository, or "" for none.
func Head(env []string, dir string) string {
	return line(env, dir, "rev-parse", "-q", "--verify", "HEAD")
}

// Base returns the id of the last commit from which both that of a name and the one that is checked out come, or "" for
// none.
func Base(env []string, dir, name string) string {
	if strings.HasPrefix(name, "-") { // it would be an option
		return ""
	}
	return line(env, dir, "merge-base", name, "HEAD")
}

// Lacks reports whether a branch and what is checked out lack work that the commit of a name has. They lack no commits
// of it that a person has squashed there. A name that is gone has none. except are files below dir that do not count: a
// list has flags of later runs, too.
func Lacks(env []string, dir, branch, name string, except ...string) bool {
	if strings.HasPrefix(name, "-") { // it would be an option
		return false
	}
	branch = "refs/heads/" + branch
	commits := line(env, dir, "rev-list", "-n", "1", "--ignore-missing", name, "^HEAD", "^"+branch)
	return commits != "" && !HasFiles(env, dir, "HEAD", name, except...) && !HasFiles(env, dir, branch, name, except...)
}

// HasFiles reports whether a commit has each file that another one has changed as it is there, but for some files below
// dir. It only compares: a merge would run what the repository names for that. It is false if git cannot tell.
func HasFiles(env []string, dir, commit, name string, except ...string) bool {
	base := line(env, dir, "merge-base", commit, name)
	if base == "" {
		return false
	}
	args := []string{"diff", "-c", "--name-only", "--no-ext-diff", name, base, commit, "--", ":(top)"}
	for _, file := range except {
		if file != "" {
			args = append(args, ":(exclude,literal)"+file)
		}
	}
	r := proc.Run(context.Background(), proc.Git(env, dir, args...))
	return r.Err == nil && len(r.Output) == 0
}

// line returns what git says, on one line; "" if it fails.
func line(env []string, dir string, args ...string) string {
	r := proc.Run(context.Background(), proc.Git(env, dir, args...))
	if r.Err != nil {
		return ""
	}
	return plain.Line(string(r.Output), 300)
}
