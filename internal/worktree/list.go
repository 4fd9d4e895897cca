package worktree

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// No lane commits the list, so it is in a merge as it is in the commit below. The commit of a feature has it with that
// feature marked, and nothing else changed. The file in the project is the loop's and the person's: no merge writes it,
// and only the index follows.

// List is a file of Options.Except that merges change nevertheless.
type List struct {
	File string // from the project, with slashes; "": there is none

	// Merge merges two versions of the file that git cannot merge. data is a person's, and base is that from which both
	// come, nil if there is none.
	Merge func(base, other, data []byte) ([]byte, error)
}

// version is the list as a commit or the index has it. The zero version is none.
type version struct{ mode, id string }

// regular reports whether there is a list, and it is no link.
func (v version) regular() bool { return strings.HasPrefix(v.mode, "100") }

// maxList is the size of a list, in bytes, from which on no merge changes it. Git may not say more.
const maxList = 64 << 20

// listText is the text of the list at a commit.
type listText struct {
	commit string
	mode   string // "": there is no list that a merge can change
	text   []byte
}

// listAt returns the list at a commit.
func (r *Repo) listAt(ctx context.Context, commit string) (l listText, err error) {
	r.listing.Lock()
	defer r.listing.Unlock()
	if r.lastList.commit == commit {
		return r.lastList, nil
	}
	git := privateGit{r: r}
	out, err := git.names(ctx, "ls-tree", "-z", "--long", "--full-tree", commit, "--", ":(top,literal)"+r.list)
	if err != nil {
		return l, err
	}
	l.commit = commit
	for _, line := range out { // MODE "blob" ID SIZE<tab>NAME
		about, _, _ := strings.Cut(line, "\t")
		words := strings.Fields(about)
		if len(words) != 4 {
			return l, fmt.Errorf("git ls-tree: %q", line)
		}
		size, err := strconv.Atoi(words[3])
		if v := (version{words[0], words[2]}); err != nil || !v.regular() || size >= maxList {
			break
		}
		l.mode = words[0]
		l.text, err = git.git(ctx, "cat-file", "blob", words[2])
		if err != nil {
			return l, err
		}
	}
	r.lastList = l
	return l, nil
}

// rememberList notes the text of the list at a commit, so that git need not be asked for it.
func (r *Repo) rememberList(l listText, commit string) {
	r.listing.Lock()
	defer r.listing.Unlock()
	l.commit = commit
	r.lastList = l
}

// mark returns a tree in which the list is that of the commit below with the mark of work, and that list.
func (r *Repo) mark(ctx context.Context, w Work, tree, below string) (string, listText, error) {
	if r.list == "" || w.Mark == nil {
		return tree, listText{}, nil
	}
	l, err := r.listAt(ctx, below)
	if err != nil || l.mode == "" {
		return tree, l, err
	}
	text := w.Mark(l.text)
	if bytes.Equal(text, l.text) {
		return tree, l, nil
	}
	l.text = text
	tree, err = r.withList(ctx, tree, l)
	return tree, l, err
}

// treeRef is the name in our git folder of the commits that withList makes, which nobody needs.
const treeRef = "refs/ralph/tree"

// withList returns a tree with another list; without a mode it has none.
func (r *Repo) withList(ctx context.Context, tree string, l listText) (string, error) {
	r.merging.Lock()
	defer r.merging.Unlock()
	name := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(r.list) + `"`
	var in bytes.Buffer // git-fast-import(1)
	fmt.Fprintf(&in, "commit %s\ncommitter <> 0 +0000\ndata 0\nM 040000 %s \"\"\n", treeRef, tree)
	if l.mode == "" {
		fmt.Fprintf(&in, "D %s\n", name)
	} else {
		fmt.Fprintf(&in, "M %s inline %s\ndata %d\n", l.mode, name, len(l.text))
		in.Write(l.text)
		in.WriteByte('\n')
	}
	in.WriteString("ls \"\"\n")
	out, err := privateGit{r: r}.feed(ctx, in.Bytes(), "fast-import", "--quiet", "--force")
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(out)) // "040000 tree" ID
	if len(words) != 3 || !isID(words[2]) {
		return "", fmt.Errorf("git fast-import: %q", out)
	}
	return words[2], nil
}

// resolveList resolves a conflict that is in the list alone, between a commit of the run and one of a person, in the
// tree of a merge. resolved is false if it cannot.
func (r *Repo) resolveList(ctx context.Context, tree string, conflicts []Conflict) (merged string, resolved bool,
	err error) {
	if r.list == "" || len(conflicts) != 1 || conflicts[0].name != r.list {
		return "", false, nil
	}
	base, other, persons := conflicts[0].versions[1], conflicts[0].versions[2], conflicts[0].versions[3]
	l := listText{}
	switch {
	case persons == version{}:
	case !persons.regular() || !other.regular() || base != version{} && !base.regular():
		return "", false, nil
	default:
		l.mode = persons.mode
		l.text, err = r.mergeList(ctx, privateGit{r: r}, base.id, other.id, persons.id)
		if err != nil {
			return "", false, ctx.Err() // a person resolves it
		}
	}
	merged, err = r.withList(ctx, tree, l)
	return merged, err == nil, err
}

// mergeList merges versions of the list by meaning. An empty base is none.
func (r *Repo) mergeList(ctx context.Context, git privateGit, base, other, persons string) ([]byte, error) {
	var texts [3][]byte
	for i, id := range []string{base, other, persons} {
		if id == "" {
			continue
		}
		text, err := git.git(ctx, "cat-file", "blob", id)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return r.mergeLists(texts[0], texts[1], texts[2])
}

// cutList takes the list out of the files that a merge changes, if only the index is to follow. A list without a name
// is none.
func (r *Repo) cutList(files []change) (list change, rest []change) {
	for _, c := range files {
		if r.list != "" && c.name == r.list && c.oldVersion().regular() && c.newVersion().regular() {
			list = c
		} else {
			rest = append(rest, c)
		}
	}
	return list, rest
}

// listInIndex returns what the project's index is to have for the list after a merge: the list of the new commit, or
// what a person has staged, with what the merge changes. ok is false if that cannot be merged.
func (r *Repo) listInIndex(ctx context.Context, here privateGit, list change) (v version, ok bool, err error) {
	if list.name == "" {
		return v, true, nil
	}
	out, err := here.names(ctx, "ls-files", "--stage", "-z", "--", ":(top,literal)"+list.name)
	if err != nil || len(out) != 1 {
		return v, false, err
	}
	var stage int
	if _, err := fmt.Sscan(out[0], &v.mode, &v.id, &stage); err != nil || stage > 0 { // MODE ID STAGE<tab>NAME
		return v, false, err
	}
	if v == list.oldVersion() || v == list.newVersion() {
		return list.newVersion(), true, nil
	}
	if !v.regular() {
		return v, false, nil
	}
	text, err := r.mergeList(ctx, here, list.oldID, list.newID, v.id)
	if err != nil {
		return v, false, ctx.Err()
	}
	id, err := here.feed(ctx, text, "hash-object", "-w", "--stdin")
	v.id = strings.TrimSpace(string(id))
	return v, err == nil, err
}

// putList puts a version of the list into an index that has another one, and refreshes it.
func (a privateGit) putList(ctx context.Context, list change, v version) {
	if list.name == "" {
		a.refresh(ctx)
		return
	}
	// It fails if something is changed. If the list is not put there, git refuses to merge it.
	_, _ = a.git(ctx, "update-index", "-q", "--cacheinfo", v.mode+","+v.id+","+list.name, "--refresh")
}
