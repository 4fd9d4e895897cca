package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Conflict is a file that two sides have changed in ways that do not fit together.
type Conflict struct {
	File string // from the project
	Why  string // what git says, on one line; foreign text, cleaned
}

// Work is what a lane or a worker has done.
type Work struct {
	Commit  string   // its last commit
	Base    string   // the commit of the loop's branch from which it began
	Author  string   // the name of the author; "": the person
	Message string   // of the merged commit; lines in it that are trailers of ours are left out
	Feature string   // becomes the trailer Ralph-Feature; "": the loop as a whole
	Also    []string // more features
	More    []string // more trailers, such as "Ralph-Agent: claude"
}

// Merged is a merge that has moved nothing.
type Merged struct {
	Commit    string     // a child of the commit below it, or that commit if there is nothing to merge; "": conflicts
	Conflicts []Conflict // then nothing was made but objects
}

// Trailer begins the line of a merged commit that names the feature.
const Trailer = "Ralph-Feature: "

// Merge merges work with a commit, as one commit on top of it. No branch and no file moves: see Forward.
// The loops' files are those of the commit below. It is ErrHistory if the work or that commit does not come from the
// base.
func (r *Repo) Merge(ctx context.Context, below string, w Work) (m Merged, err error) {
	if is, err := r.bothDescend(ctx, w.Commit, below, w.Base); err != nil || !is {
		return m, errors.Join(err, fmt.Errorf("%w: commits %.12s and %.12s do not both come from %.12s", ErrHistory,
			w.Commit, below, w.Base))
	}
	tree, conflicts, err := r.merge(ctx, w.Commit, below)
	if err != nil {
		return m, err
	}
	files, err := r.changes(ctx, below, tree)
	if err != nil {
		return m, err
	}
	for _, f := range files {
		if r.excepted(f.name) {
			return m, fmt.Errorf("the merge would change %s, a file of the loops", plain.Line(f.name, 300))
		}
	}
	m.Conflicts = conflicts
	switch {
	case len(conflicts) > 0:
		return m, nil
	case len(files) == 0:
		m.Commit = below
		return m, nil
	}
	m.Commit, err = r.commitWork(ctx, w, tree, below)
	return m, err
}

// commitWork makes a commit of a tree, as one of somebody's work.
func (r *Repo) commitWork(ctx context.Context, w Work, tree, parent string) (string, error) {
	return apart{r: r, author: w.Author}.commit(ctx, tree, w.text(), parent)
}

// Join returns a commit that has the work of two commits: one of them if it comes from the other, else a merge of both.
// There is none if they are in conflict.
func (r *Repo) Join(ctx context.Context, one, other string) (commit string, conflicts []Conflict, err error) {
	for _, pair := range [][2]string{{one, other}, {other, one}} {
		is, err := r.Descends(ctx, pair[0], pair[1])
		if err != nil || is {
			return pair[0], nil, err
		}
	}
	tree, conflicts, err := r.merge(ctx, one, other)
	if err != nil || len(conflicts) > 0 {
		return "", conflicts, err
	}
	commit, err = r.commit(ctx, tree, "Merge branch "+r.branch, one, other)
	return commit, nil, err
}

// ownTrailer finds lines that only the merger writes: a lane's message could name another feature.
var ownTrailer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?im)^\s*ralph-[a-z]+\s*:.*$`) })

// text returns the message of the merged commit.
func (w Work) text() string {
	message := ownTrailer().ReplaceAllString(strings.ReplaceAll(w.Message, "\r", "\n"), "")
	message = strings.TrimSpace(message)
	if message == "" {
		message = "Work on " + cmp.Or(inTrailer(w.Feature), "the loop")
	}
	message, trailers := cutTrailers(message)
	trailers = append(trailers, w.trailers()...)
	return message + "\n\n" + strings.Join(trailers, "\n") + "\n"
}

// trailers returns the lines that only the merger writes.
func (w Work) trailers() (all []string) {
	for _, feature := range append([]string{w.Feature}, w.Also...) {
		if feature != "" {
			all = append(all, Trailer+inTrailer(feature))
		}
	}
	return append(all, w.More...)
}

// inTrailer writes the id of a feature on one line.
func inTrailer(feature string) string {
	if plain.Line(feature, len(feature)+1) != feature || strings.HasPrefix(feature, `"`) {
		return strconv.QuoteToASCII(feature)
	}
	return feature
}

// trailer matches a line that credits somebody, such as "Co-Authored-By: NAME <ADDRESS>".
var trailer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^[a-z]+(-[a-z]+)*-by: \S`) })

// manyLines matches more than one empty line.
var manyLines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\n\s*\n(\s*\n)+`) })

// cutTrailers takes the trailers out of a message with several ones, so that they can stand at its end, each once.
func cutTrailers(message string) (text string, trailers []string) {
	var rest []string
	for _, line := range strings.Split(message, "\n") {
		switch {
		case !trailer().MatchString(line):
			rest = append(rest, line)
		case !slices.Contains(trailers, line):
			trailers = append(trailers, line)
		}
	}
	text = manyLines().ReplaceAllString(strings.Join(rest, "\n"), "\n\n")
	return strings.TrimSpace(text), trailers
}

// The names of the two sides in conflict markers.
const (
	ours   = "lane"
	theirs = "loop"
)

// merge merges the commit head of the loop's branch and a lane's commit, and returns the tree. The loops' files
// are head's. Files with conflicts have markers in them.
func (r *Repo) merge(ctx context.Context, lane, head string) (tree string, conflicts []Conflict, err error) {
	r.merging.Lock()
	defer r.merging.Unlock()
	lane, err = r.withLoops(ctx, lane, head)
	if err != nil {
		return "", nil, err
	}
	for name, commit := range map[string]string{ours: lane, theirs: head} {
		ref := filepath.Join(r.own, filepath.FromSlash(heads), name)
		if err := os.WriteFile(ref, []byte(commit+"\n"), 0o600); err != nil {
			return "", nil, err
		}
	}
	git := apart{r: r, index: filepath.Join(r.own, "index-merge")} // an index for attributes: head's
	if _, err := git.git(ctx, "read-tree", head); err != nil {
		return "", nil, err
	}
	out, err := git.git(ctx, "merge-tree", "--write-tree", "-z", "--messages", ours, theirs)
	if err != nil && proc.GitExit(err) != 1 {
		return "", nil, err
	}
	texts := proc.GitTexts(out)
	if len(texts) == 0 {
		return "", nil, errors.New("git merge-tree says nothing")
	}
	tree = texts[0]
	if err == nil {
		return tree, nil, nil
	}
	return tree, r.conflicts(texts[1:]), nil
}

// conflicts reads what git merge-tree -z says after the tree: "MODE ID STAGE<tab>FILE" for each version of each file,
// an empty text, and for each message the number of its files, these files, the kind and the message.
func (r *Repo) conflicts(texts []string) (all []Conflict) {
	at := map[string]int{}
	note := func(file, why string) {
		i, has := at[file]
		if !has {
			i, at[file] = len(all), len(all)
			all = append(all, Conflict{File: r.fromProject(file)})
		}
		if all[i].Why == "" {
			all[i].Why = why
		}
	}
	for len(texts) > 0 && texts[0] != "" {
		_, file, _ := strings.Cut(texts[0], "\t")
		note(file, "")
		texts = texts[1:]
	}
	for texts = texts[min(1, len(texts)):]; len(texts) > 0; {
		n, err := strconv.Atoi(texts[0])
		if err != nil || n < 1 || len(texts) < n+3 {
			break
		}
		files, kind, why := texts[1:n+1], texts[n+1], plain.Line(texts[n+2], 400)
		texts = texts[n+3:]
		if !strings.HasPrefix(kind, "CONFLICT") {
			continue
		}
		for i, file := range files {
			if _, has := at[file]; has || i == 0 {
				note(file, why)
			}
		}
	}
	if len(all) == 0 {
		all = []Conflict{{File: ".", Why: "git cannot merge the folders"}}
	}
	return all
}

// withLoops returns a commit that is a lane's, but with the loops' files of head. So they never conflict.
func (r *Repo) withLoops(ctx context.Context, lane, head string) (string, error) {
	git := apart{r: r, index: filepath.Join(r.own, "index-loops")}
	look := []string{"diff-tree", "-r", "-z", "--name-only", head, lane, "--"}
	for _, e := range r.except {
		look = append(look, pathspec("", e))
	}
	if names, err := git.git(ctx, look...); err != nil || len(names) == 0 || len(r.except) == 0 {
		return lane, err // as in most merges
	}
	if _, err := git.git(ctx, "read-tree", lane); err != nil {
		return "", err
	}
	for _, e := range r.except {
		names, err := git.git(ctx, "ls-files", "-z", "--", pathspec("", e))
		if err != nil {
			return "", err
		}
		if _, err := git.feed(ctx, names, "update-index", "-z", "--force-remove", "--stdin"); err != nil {
			return "", err
		}
		// Unlike the others, git ls-tree takes no "icase".
		entries, err := git.git(ctx, "ls-tree", "-r", "-z", "--full-tree", head, "--", ":(top,literal)"+e)
		if err != nil {
			return "", err
		}
		if len(entries) == 0 {
			continue // not in the repository
		}
		for up := path.Dir(e); up != "."; up = path.Dir(up) { // a file in the place of a folder above
			_, _ = git.git(ctx, "update-index", "--force-remove", "--", up)
		}
		if _, err := git.feed(ctx, entries, "update-index", "-z", "--index-info"); err != nil {
			return "", err
		}
	}
	tree, err := git.line(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	return r.commit(ctx, tree, "The lane with the loop's files", lane)
}

// contains reports whether the loop's branch has a commit's work: to merge it would change nothing.
func (r *Repo) contains(ctx context.Context, head, commit string) (bool, error) {
	if is, err := r.Descends(ctx, head, commit); err != nil || is {
		return is, err
	}
	tree, conflicts, err := r.merge(ctx, commit, head)
	if err != nil || len(conflicts) > 0 {
		return false, err
	}
	return r.same(ctx, tree, head)
}
