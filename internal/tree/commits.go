package tree

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Commit is a commit of a repository. Its texts are foreign and cleaned.
type Commit struct {
	Hash     string    `json:"hash"`
	At       time.Time `json:"at"`
	Subject  string    `json:"subject"`
	Features []string  `json:"features,omitempty"` // from its trailer
	Diff     string    `json:"diff"`               // cut if it is long
}

const (
	maxCommits = 500
	maxDiffs   = 8 << 20 // bytes of all diffs
	maxDiff    = 20_000  // characters of one
)

// Commits returns the commits that were made in a time on what is checked out in a folder, the first one first: at most
// the last 500, and how many came before these. A merge stands for the commits that it merged, other than those of a
// run; "": none. It returns none if the folder is in no repository. It runs no program that the repository names.
func Commits(ctx context.Context, env []string, dir, run string, from, to time.Time) (all []Commit, more int) {
	within := []string{fmt.Sprintf("--since=@%d", from.Unix()), fmt.Sprintf("--until=@%d", to.Unix()+1), "HEAD"}
	all, more = commitsIn(ctx, env, dir, within)
	if run == "" || more > 0 {
		return all, more
	}
	// A person who merges a lane's branch may put the run's own commits on the side of a merge.
	grep := []string{"rev-list", "-n", strconv.Itoa(maxCommits), "--basic-regexp", "--grep=^Ralph-Run: " + run + "$"}
	ids, err := proc.GitOutput(ctx, proc.Git(env, dir, append(grep, within...)...), "rev-list")
	if err != nil {
		return all, more
	}
	missing := slices.DeleteFunc(strings.Fields(string(ids)), func(id string) bool {
		return slices.ContainsFunc(all, func(c Commit) bool { return c.Hash == id })
	})
	if len(missing) > 0 {
		beside, _ := commitsIn(ctx, env, dir, append([]string{"--no-walk"}, missing...))
		all = append(all, beside...)
		slices.SortStableFunc(all, func(a, b Commit) int { return a.At.Compare(b.At) })
	}
	return all, more
}

// commitsIn returns commits of the first parents, as Commits does.
func commitsIn(ctx context.Context, env []string, dir string, within []string) (all []Commit, more int) {
	within = append([]string{"--first-parent"}, within...)
	mark := rand.Text() // nobody can put it into a commit
	out := &proc.Head{Limit: maxDiffs}
	git := proc.Git(env, dir, append([]string{
		"log", "-n", strconv.Itoa(maxCommits), "--no-show-signature", "--no-color", "--no-ext-diff",
		"--no-textconv", "--no-notes", "--stat", "--patch", "-m",
		"--format=" + mark + "%H %ct %s%n%(trailers:key=Ralph-Feature,valueonly,separator=%x1f)",
	}, within...)...)
	git.Stdout = out
	_ = proc.Run(ctx, git) // without a repository there are no commits
	for _, text := range strings.Split(string(out.Bytes()), mark) {
		head, diff, _ := strings.Cut(text, "\n")
		trailers, diff, _ := strings.Cut(diff, "\n")
		words := strings.SplitN(head, " ", 3)
		if len(words) < 3 {
			continue
		}
		seconds, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			continue
		}
		var features []string
		for one := range strings.SplitSeq(trailers, "\x1f") {
			one = plain.Line(one, 80)
			if one != "" && !slices.Contains(features, one) {
				features = append(features, one)
			}
		}
		all = append([]Commit{{
			Hash: plain.Line(words[0], 64), At: time.Unix(seconds, 0).UTC(), Subject: plain.Line(words[2], 200),
			Features: features, Diff: plain.Text(strings.TrimSpace(strings.TrimPrefix(diff, "---\n")), maxDiff),
		}}, all...)
	}
	if len(all) < maxCommits && len(out.Bytes()) < maxDiffs {
		return all, 0
	}
	counting := proc.Git(env, dir, append([]string{"rev-list", "--count"}, within...)...)
	count, err := proc.GitOutput(ctx, counting, "rev-list")
	if in, parsed := strconv.Atoi(strings.TrimSpace(string(count))); err == nil && parsed == nil {
		more = max(0, in-len(all))
	}
	return all, more
}
