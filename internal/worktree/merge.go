package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
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

	name     string     // from the root
	versions [4]version // by the numbers that git gives them: 1 that from which both come, 2 ours, 3 theirs
}

// Work is what a lane or a worker has done.
type Work struct {
	Commit  string   // its last commit
	Base    string   // the commit of the loop's branch from which it began
	Message string   // of the merged commit; lines in it that are trailers of ours are left out
	Feature string   // becomes the trailer Ralph-Feature; "": the loop as a whole
	Also    []string // more features
	More    []string // more trailers, such as "Ralph-Agent: claude"

	// Mark returns the list with the feature marked, or as it is; nil: there is nothing to mark.
	Mark func(list []byte) []byte
}

// Merged is a merge that has moved nothing.
type Merged struct {
	Commit    string     // a child of the commit below it, or that commit if there is nothing to merge; "": conflicts
	Conflicts []Conflict // then nothing was made but objects
}

// Trailer begins the line of a merged commit that names the feature.
const Trailer = "Ralph-Feature: "

// Merge merges work with a commit that comes from its base, as one commit on top of it. No branch and no file moves:
// see Forward. It is ErrHistory if the work does not come from the base.
func (r *Repo) Merge(ctx context.Context, below string, w Work) (m Merged, err error) {
	if is, err := r.Descends(ctx, w.Commit, w.Base); err != nil || !is {
		return m, errors.Join(err, fmt.Errorf("%w: commit %.12s does not come from %.12s", ErrHistory, w.Commit, w.Base))
	}
	var tree string
	if w.Base == below {
		tree, err = r.treeOf(ctx, w.Commit)
	} else {
		tree, m.Conflicts, err = r.merge(ctx, w.Commit, below)
	}
	if err != nil || len(m.Conflicts) > 0 {
		return m, err
	}
	tree, list, err := r.mark(ctx, w, tree, below)
	if err != nil {
		return m, err
	}
	was, err := r.treeOf(ctx, below)
	if err != nil {
		return m, err
	}
	if tree == was {
		m.Commit = below
		return m, nil
	}
	m.Commit, err = r.commitWork(ctx, w, tree, below)
	if err == nil && list.commit != "" {
		r.rememberList(list, m.Commit)
	}
	return m, err
}

// commitWork makes a commit of a tree, as one of somebody's work.
func (r *Repo) commitWork(ctx context.Context, w Work, tree, parent string) (string, error) {
	return privateGit{r: r}.commit(ctx, tree, w.text(), parent)
}

// Join returns a commit that has the work of two commits, one of the run and another one of a person: one of them if it
// comes from the other, else a merge of both. There is none if they are in conflict, unless that is in the list alone.
func (r *Repo) Join(ctx context.Context, one, other string) (commit string, conflicts []Conflict, err error) {
	for _, pair := range [][2]string{{one, other}, {other, one}} {
		is, err := r.Descends(ctx, pair[0], pair[1])
		if err != nil || is {
			return pair[0], nil, err
		}
	}
	tree, conflicts, err := r.merge(ctx, one, other)
	if err == nil && len(conflicts) > 0 {
		var resolved bool
		tree, resolved, err = r.resolveList(ctx, tree, conflicts)
		if !resolved {
			return "", conflicts, err
		}
	}
	if err != nil {
		return "", nil, err
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

// merge merges the commit head of the loop's branch and a lane's commit, and returns the tree. Files with conflicts
// have markers in them.
func (r *Repo) merge(ctx context.Context, lane, head string) (tree string, conflicts []Conflict, err error) {
	r.merging.Lock()
	defer r.merging.Unlock()
	for name, commit := range map[string]string{ours: lane, theirs: head} {
		ref := filepath.Join(r.privateDir, filepath.FromSlash(heads), name)
		if err := os.WriteFile(ref, []byte(commit+"\n"), 0o600); err != nil {
			return "", nil, err
		}
	}
	git := privateGit{r: r, index: r.attributes}
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
	note := func(file, why string) *Conflict {
		i, has := at[file]
		if !has {
			i, at[file] = len(all), len(all)
			all = append(all, Conflict{File: r.fromProject(file), name: file})
		}
		if all[i].Why == "" {
			all[i].Why = why
		}
		return &all[i]
	}
	for len(texts) > 0 && texts[0] != "" {
		about, file, _ := strings.Cut(texts[0], "\t")
		c := note(file, "")
		var v version
		var stage int
		if _, err := fmt.Sscan(about, &v.mode, &v.id, &stage); err == nil && stage > 0 && stage < len(c.versions) {
			c.versions[stage] = v
		}
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

// contains reports whether the loop's branch has a commit's work: to merge it would change nothing.
func (r *Repo) contains(ctx context.Context, head, commit string) (bool, error) {
	if is, err := r.Descends(ctx, head, commit); err != nil || is {
		return is, err
	}
	tree, conflicts, err := r.merge(ctx, commit, head)
	if err != nil || len(conflicts) > 0 {
		return false, err
	}
	was, err := r.treeOf(ctx, head)
	return was == tree, err
}
