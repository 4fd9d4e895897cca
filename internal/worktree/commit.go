package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// ErrHistory is wrapped if commits do not begin at the base that they were given: somebody has rewritten history.
var ErrHistory = errors.New("history was rewritten")

// Commit commits all that git does not ignore in the tree, on top of what the agent has committed, and creates its .git
// again. The files of the loops stay as they are in the base. changed reports whether the commit differs from the base.
// It is ErrHistory if what is checked out does not come from the base.
func (t *Tree) Commit(ctx context.Context, message string) (commit string, changed bool, err error) {
	s, err := t.stage(ctx)
	if err != nil {
		return "", false, err
	}
	head := s.head
	if head != t.tip {
		if from, err := t.r.Descends(ctx, head, t.base); err != nil || !from {
			return "", false, errors.Join(err, fmt.Errorf("%w: the lane is at commit %.12s, which does not come from %.12s",
				ErrHistory, head, t.base))
		}
	}
	commit = head
	t.r.bases.Store(head, t.base)
	if !s.clean {
		commit, err = t.r.commit(ctx, s.tree, message, head)
		if err != nil {
			return "", false, err
		}
		t.r.bases.Store(commit, t.base)
	}
	return commit, s.changed, t.renew(commit)
}

// Saves begins the message of a commit that the run makes of an agent's work, so that nothing gets lost.
const Saves = "Save the work"

// gitlink is the mode of a folder that is a repository of its own.
const gitlink = "160000"

// treeState is the files of a worktree as a tree.
type treeState struct {
	tree    string
	head    string // the commit that is checked out
	clean   bool   // the tree is that of head
	changed bool   // the tree differs from that of the base
}

// stage writes the tree's files into a tree of git.
func (t *Tree) stage(ctx context.Context) (s treeState, err error) {
	if err := t.isFolder(); err != nil {
		return s, err
	}
	s.head = t.head()
	if s.head != t.tip && t.take(ctx, s.head) != nil { // only what it has written into its commits is lost
		if err := ctx.Err(); err != nil {
			return s, err
		}
		s.head = t.tip
	}
	was, err := t.r.treeOf(ctx, s.head)
	if err != nil {
		return s, err
	}
	if err := t.files().regular(); err != nil {
		return s, err
	}
	_ = os.Remove(t.index + ".lock")
	if _, err := os.Lstat(t.index); err != nil { // add has removed it, for a nested repository
		if _, err := t.files().git(ctx, "read-tree", t.base); err != nil {
			return s, err
		}
	}
	if err := t.clearWay(); err != nil {
		return s, err
	}
	if s.head != t.tip {
		if err := t.addIgnored(ctx, s.head); err != nil {
			return s, err
		}
	}
	t.agents = s.head
	err = t.add(ctx, &s, was)
	return s, err
}

// addIgnored adds the new files of an agent's commit that git ignores: the agent has added them with git add -f.
func (t *Tree) addIgnored(ctx context.Context, head string) error {
	files, err := t.r.changes(ctx, t.tip, head)
	if err != nil {
		return err
	}
	var made strings.Builder
	for _, f := range files {
		if f.isAddition() && f.newMode != gitlink && !t.r.excepted(f.name) && t.isFile(f.name) {
			made.WriteString(f.name + "\x00")
		}
	}
	if made.Len() == 0 {
		return nil
	}
	ignored, err := t.files().feed(ctx, []byte(made.String()), "check-ignore", "-z", "--stdin")
	if proc.GitExit(err) == 1 { // it ignores none
		return nil
	}
	if err == nil {
		_, err = t.files().feed(ctx, ignored, "update-index", "--add", "-z", "--stdin")
	}
	return err
}

// isFile reports whether a file is there, and no folder above it is a link.
func (t *Tree) isFile(name string) bool {
	for up := path.Dir(name); up != "."; up = path.Dir(up) {
		info, err := os.Lstat(filepath.Join(t.dir, filepath.FromSlash(up)))
		if err != nil || !info.IsDir() {
			return false
		}
	}
	info, err := os.Lstat(filepath.Join(t.dir, filepath.FromSlash(name)))
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeSymlink != 0)
}

// treeOf returns the id of a commit's tree.
func (r *Repo) treeOf(ctx context.Context, commit string) (string, error) {
	if known, has := r.trees.Load(commit); has {
		return known.(string), nil
	}
	tree, err := privateGit{r: r}.line(ctx, "rev-parse", commit+"^{tree}")
	if err == nil {
		r.trees.Store(commit, tree)
	}
	return tree, err
}

// add adds all files to the index, and makes the tree of a treeState. was is the tree of its commit.
func (t *Tree) add(ctx context.Context, s *treeState, was string) error {
	files, err := t.addFiles(ctx, s, ":(top)")
	if err != nil {
		return err
	}
	return t.choose(ctx, s, was, files)
}

// addFiles adds what pathspecs name to the index, makes the tree of a treeState, and returns its changes since the
// base.
func (t *Tree) addFiles(ctx context.Context, s *treeState, what ...string) ([]change, error) {
	args := append([]string{"add", "-A", "--"}, what...)
	for _, e := range t.r.except {
		args = append(args, pathspec(",exclude", e))
	}
	// The status is 1, and all else is added, if git ignores a folder that the arguments exclude.
	if _, err := t.files().git(ctx, args...); err != nil && proc.GitExit(err) != 1 {
		return nil, err
	}
	if err := t.addTracked(ctx); err != nil {
		return nil, err
	}
	tree, err := t.files().line(ctx, "write-tree")
	if err != nil {
		return nil, err
	}
	s.tree = tree
	return t.r.changes(ctx, t.base, s.tree)
}

// addTracked adds those of Options.Tracked that are in a folder of Options.Except.
func (t *Tree) addTracked(ctx context.Context) error {
	args := []string{"ls-files", "-z", "--"}
	for _, name := range t.r.tracked {
		if t.r.isBelowExcept(name) {
			args = append(args, pathspec("", name))
		}
	}
	if len(args) == 3 {
		return nil
	}
	names, err := t.files().git(ctx, args...)
	if err == nil {
		_, err = t.files().feed(ctx, names, "update-index", "--remove", "-z", "--stdin")
	}
	return err
}

// choose takes out of a treeState what is not to be committed. files are its changes since the base, and was is the
// tree of its commit.
func (t *Tree) choose(ctx context.Context, s *treeState, was string, files []change) (err error) {
	if slices.ContainsFunc(files, t.leavesOut) {
		files, err = t.putBack(ctx, s, files)
	}
	if err == nil && s.tree != was {
		err = t.leaveBuilt(ctx, s, files)
	}
	for _, f := range files {
		if f.newMode == gitlink {
			_ = os.Remove(t.index) // with it, git would look into that repository, under its configuration
			return fmt.Errorf("the folder %s is a git repository of its own: "+
				"remove its .git, or let git ignore it", plain.Line(t.r.fromProject(f.name), 300))
		}
	}
	s.clean, s.changed = s.tree == was, len(files) > 0
	return err
}

// leavesOut reports whether a change is in no commit: it is one of the loops' files, or outside the project, or it was
// there before. A draft of Options.Tracked stays out, whatever it is now.
func (t *Tree) leavesOut(c change) bool {
	draft, is := t.drafts[c.name]
	stays := draft.ID == c.newID || c.newMode == gitlink || slices.Contains(t.r.tracked, c.name)
	isOutside := t.scope != "" && !strings.HasPrefix(c.name, t.scope+"/")
	return isOutside || t.r.excepted(c.name) || is && stays
}

// putBack takes the changes out of a treeState that leavesOut names: a worker's commit can have them. It returns the
// others.
func (t *Tree) putBack(ctx context.Context, s *treeState, files []change) (rest []change, err error) {
	var index strings.Builder // of git update-index --index-info: MODE ID<tab>NAME
	for _, c := range files {
		if t.leavesOut(c) {
			fmt.Fprintf(&index, "%s %s\t%s\x00", strings.Replace(c.oldMode, "000000", "0", 1), c.oldID, c.name)
		} else {
			rest = append(rest, c)
		}
	}
	if _, err := t.files().feed(ctx, []byte(index.String()), "update-index", "-z", "--index-info"); err != nil {
		return nil, err
	}
	s.tree, err = t.files().line(ctx, "write-tree")
	return rest, err
}

// clearWay removes what stands in the place of a folder above the files that are never merged: git would not leave them
// out, and nobody could write them.
func (t *Tree) clearWay() error {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, e := range t.r.except {
		parts := strings.Split(path.Dir(e), "/")
		for i := range parts {
			above := filepath.Join(parts[:i+1]...)
			info, err := root.Lstat(above)
			if err != nil {
				break // it is not there
			}
			if info.IsDir() {
				continue
			}
			if err := root.Remove(above); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// isBuilt reports whether a file has such a name as programs give, and nobody commits it.
func isBuilt(name string) bool {
	return strings.HasSuffix(name, "~") || slices.Contains(built, path.Ext(name))
}

var built = []string{".o", ".obj", ".a", ".so", ".dylib", ".dll", ".exe", ".class", ".pyc", ".log", ".tmp"}

// maxNew is the largest new file that is committed, unless the agent has done that itself.
const maxNew = 10 << 20

// leaveBuilt takes new files out of a treeState that look like the output of a build, those of Options.Tracked, and
// those that are there because a person has opened a file, unless the agent has committed them. files are the changes
// since the base.
func (t *Tree) leaveBuilt(ctx context.Context, s *treeState, files []change) (err error) {
	if s.head != t.base {
		files, err = t.r.changes(ctx, s.head, s.tree)
		if err != nil {
			return err
		}
	}
	t.buildOutputs = nil
	var out []string
	for _, f := range files {
		file := filepath.Join(t.dir, filepath.FromSlash(f.name))
		info, err := os.Lstat(file)
		switch {
		case !f.isAddition():
		case slices.Contains(t.r.tracked, f.name):
			out = append(out, f.name)
		case isBuilt(f.name), err == nil && (info.Size() > maxNew || loopdir.IsEditorFile(file, info.Mode())):
			t.buildOutputs = append(t.buildOutputs, f.name)
		}
	}
	out = append(out, t.buildOutputs...)
	if len(out) == 0 {
		return nil
	}
	names := []byte(strings.Join(out, "\x00") + "\x00")
	if _, err := t.files().feed(ctx, names, "update-index", "-z", "--force-remove", "--stdin"); err != nil {
		return err
	}
	s.tree, err = t.files().line(ctx, "write-tree")
	return err
}

// BuildOutputs names the files that the last Commit left out, because they look like the output of a build; "": none.
func (t *Tree) BuildOutputs() string { return decide.Names(t.r.InProject(t.buildOutputs)) }

// maxMessages is how many commits of an agent are asked for their messages.
const maxMessages = 200

// Messages returns the messages of the agent's last commits in the last Commit, the oldest first.
func (t *Tree) Messages(ctx context.Context) ([]string, error) {
	if t.agents == t.base {
		return nil, nil
	}
	text, err := privateGit{r: t.r}.git(ctx, "log", "-z", "--reverse", "--max-count="+strconv.Itoa(maxMessages),
		"--no-merges", "--no-show-signature", "--no-color", "--no-notes", "--encoding=UTF-8", "--format=%B",
		t.base+".."+t.agents, "--")
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), nil
}

// pathspec names one path for git, and nothing else that it could mean.
func pathspec(magic, path string) string {
	if folded {
		magic += ",icase"
	}
	return ":(top,literal" + magic + ")" + path
}

// commit makes a commit of a tree.
func (r *Repo) commit(ctx context.Context, tree, message string, parents ...string) (string, error) {
	return privateGit{r: r}.commit(ctx, tree, message, parents...)
}

func (a privateGit) commit(ctx context.Context, tree, message string, parents ...string) (string, error) {
	args := []string{"commit-tree", tree, "-F", "-"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	out, err := a.feed(ctx, []byte(strings.ReplaceAll(message, "\x00", " ")), args...)
	commit := strings.TrimSpace(string(out))
	if err == nil {
		a.r.trees.Store(commit, tree)
	}
	return commit, err
}

// change is a file that differs between two trees.
type change struct {
	name         string // from the root
	oldID, newID string // the ids of its contents; zeros if it is not there
	oldMode      string // "000000" if it was not there
	newMode      string // the new one; "000000" if it is gone
}

func (c change) isDeletion() bool { return c.newMode == "000000" }
func (c change) isAddition() bool { return strings.Trim(c.oldID, "0") == "" }

func (c change) oldVersion() version { return version{c.oldMode, c.oldID} }
func (c change) newVersion() version { return version{c.newMode, c.newID} }

// previousID returns the id of what a file had, "" if it was not there.
func (c change) previousID() string {
	if c.isAddition() {
		return ""
	}
	return c.oldID
}

// changes returns the files that differ between two commits or trees. A rename is two of them.
func (r *Repo) changes(ctx context.Context, from, to string) ([]change, error) {
	return changesIn(ctx, privateGit{r: r}, from, to)
}

func changesIn(ctx context.Context, git privateGit, from, to string) (all []change, err error) {
	out, err := git.git(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to)
	if err != nil {
		return nil, err
	}
	texts := proc.GitTexts(out)
	for i := 0; i+1 < len(texts); i += 2 {
		words := strings.Fields(strings.TrimPrefix(texts[i], ":")) // MODE MODE ID ID STATUS
		if len(words) != 5 {
			return nil, fmt.Errorf("git diff-tree: %q", texts[i])
		}
		all = append(all, change{texts[i+1], words[2], words[3], words[0], words[1]})
	}
	return all, nil
}

// Update merges the loop's branch, as it is at the commit head, into the lane: head is its base then. It returns the
// files with conflicts. Those files have conflict markers where git can write some; Why says what git says of them.
func (t *Tree) Update(ctx context.Context, head string) ([]Conflict, error) {
	conflicts, err := t.merge(ctx, head, true)
	if err == nil {
		t.base = head
	}
	return conflicts, err
}

// Join merges a commit that comes from one of the lane's into the lane. If they are in conflict, it returns the files
// with conflicts, and changes none.
func (t *Tree) Join(ctx context.Context, commit string) ([]Conflict, error) {
	return t.merge(ctx, commit, false)
}

func (t *Tree) merge(ctx context.Context, other string, marks bool) ([]Conflict, error) {
	commit, _, err := t.Commit(ctx, Saves+" before a merge")
	if err != nil {
		return nil, err
	}
	tree, conflicts, err := t.r.merge(ctx, commit, other)
	if err != nil || len(conflicts) > 0 && !marks {
		return conflicts, err
	}
	merged, err := t.r.commit(ctx, tree, "Merge branch "+t.r.branch, commit, other)
	if err != nil {
		return nil, err
	}
	names := t.Unresolved()
	for _, c := range conflicts {
		names = append(names, c.File)
	}
	if len(names) > 0 {
		err = t.note(conflictFiles, strings.Join(names, "\x00"))
	}
	return conflicts, errors.Join(err, t.Take(ctx, merged))
}

// Conflicts returns the files in which Update has found conflicts since Reset.
func (t *Tree) Conflicts() []string {
	names := t.readNote(conflictFiles)
	if names == "" {
		return nil
	}
	return strings.Split(names, "\x00")
}

// maxMarked is the largest file in which Unresolved looks.
const maxMarked = 32 << 20

// Unresolved returns those of Conflicts in which lines of conflict markers are left.
func (t *Tree) Unresolved() (left []string) {
	for _, name := range t.Conflicts() {
		text, err := loopdir.ReadFile(t.dir, filepath.FromSlash(path.Join(t.r.prefix, name)), maxMarked)
		if err != nil {
			continue // it is gone
		}
		text = append([]byte("\n"), text...)
		if bytes.Contains(text, []byte("\n<<<<<<< "+ours)) || bytes.Contains(text, []byte("\n>>>>>>> "+theirs)) {
			left = append(left, name)
		}
	}
	return left
}
