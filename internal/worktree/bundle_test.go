package worktree

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
)

// TestHostileBundles imports what a worker could send. Nothing but a plain bundle is taken, and what is refused leaves
// no object, no file and no folder behind.
func TestHostileBundles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	r := w.open()
	base := w.head()
	blob := blobOf("echo pwned\n")
	file := func(mode, name string, data string) []hostile.Object {
		b := blobOf(data)
		tr := hostile.TreeOf([2]string{mode + " " + name, b.ID()})
		return []hostile.Object{b, tr, hostile.CommitOf(tr, base)}
	}
	nest := func(names ...string) []hostile.Object {
		all := []hostile.Object{blob}
		entry := [2]string{"100755 " + names[len(names)-1], blob.ID()}
		for i := len(names) - 2; i >= -1; i-- {
			tr := hostile.TreeOf(entry)
			all = append(all, tr)
			if i >= 0 {
				entry = [2]string{"40000 " + names[i], tr.ID()}
			}
		}
		return append(all, hostile.CommitOf(all[len(all)-1], base))
	}
	bundle := func(objects []hostile.Object) []byte { return hostile.Bundle(base, objects...) }
	headed := func(head string) []byte { return append([]byte(head), hostile.Pack(file("100644", "f", "x")...)...) }
	good := file("100644", "f", "x")
	tip := good[2].ID()
	bomb := file("100644", "f", strings.Repeat("\x00", 300<<20))
	cut := bundle(good)
	pointer := hostile.TreeOf([2]string{"160000 lib", strings.Repeat("1", 40)})
	orphan := hostile.CommitOf(good[1])
	many := []hostile.Object{blob} // 10 names of each level: a billion files of ten objects
	entry := "100644 f"
	for range 9 {
		below := many[len(many)-1]
		var entries [][2]string
		for n := range 10 {
			entries = append(entries, [2]string{fmt.Sprint(entry, n), below.ID()})
		}
		many = append(many, hostile.TreeOf(entries...))
		entry = "40000 d"
	}
	many = append(many, hostile.CommitOf(many[len(many)-1], base))
	// 400 files, each below 500 folders.
	folders := []hostile.Object{blob, hostile.TreeOf([2]string{"100644 f", blob.ID()})}
	for range 500 {
		folders = append(folders, hostile.TreeOf([2]string{"40000 d", folders[len(folders)-1].ID()}))
	}
	var tops [][2]string
	for n := range 400 {
		tops = append(tops, [2]string{fmt.Sprintf("40000 t%03d", n), folders[len(folders)-1].ID()})
	}
	top := hostile.TreeOf(tops...)
	folders = append(folders, top, hostile.CommitOf(top, base))
	long := slices.Repeat([]string{strings.Repeat("d", 200)}, 6)
	large := hostile.Object{Kind: hostile.Blob, Data: bytes.Repeat([]byte{'x'}, 2<<20)}
	copies := hostile.TreeOf([2]string{"100644 a", large.ID()}, [2]string{"100644 b", large.ID()},
		[2]string{"100644 c", large.ID()}, [2]string{"100644 d", large.ID()}, [2]string{"100644 e", large.ID()},
		[2]string{"100644 f", large.ID()})
	for name, c := range map[string]struct {
		text []byte
		want string // "" if it is taken
	}{
		"a billion files": {bundle(many), "more than 100000 files and folders, or 10485760 bytes"},
		"200,000 folders": {bundle(folders), "more than 100000 files and folders"},
		"one file many times": {
			bundle([]hostile.Object{large, copies, hostile.CommitOf(copies, base)}), "10485760 bytes",
		},
		"a file above the loops": {bundle(file("100644", ".claude", "x")), ".claude stands in the place of a folder"},
		"a link above the loops": {bundle(file("120000", ".claude", "x")), ".claude stands in the place of a folder"},
		"a file in their place":  {bundle(nest(".claude", "data")), ".claude/data stands in the place of a folder"},
		"a link to git~1":        {bundle(file("120000", "l", "GIT~1/hooks")), "l is a link to"},
		"a plain one":            {bundle(good), ""},
		"a link down":            {bundle(file("120000", "l", "sub/x")), ""},
		"a script":               {bundle(nest("bin", "run.sh")), ""},
		"nothing":                {nil, "no beginning of a bundle"},
		"no bundle":              {[]byte("hello\nworld\n"), "it is no bundle"},
		"no commit":              {headed("# v2 git bundle\n\n"), "it names no commit"},
		"two refs":               {headed("# v2 git bundle\n" + tip + " refs/heads/work\n" + tip + " x\n\n"), "must have"},
		"another ref":            {headed("# v2 git bundle\n" + tip + " refs/heads/main\n\n"), `refs/heads/main`},
		"an odd id":              {headed("# v2 git bundle\n--upload-pack=x refs/heads/work\n\n"), "names no commit"},
		"a filter": {
			headed("# v3 git bundle\n@filter=blob:none\n" + tip + " refs/heads/work\n\n"), "must have",
		},
		"a beginning of 2 MB":   {headed("# v2 git bundle\n" + strings.Repeat("-x\n", 1<<20)), "no beginning"},
		"a commit that is none": {bundle(good[:1]), "is no commit"},
		"a commit that is not in it": {headed("# v2 git bundle\n" + strings.Repeat("1", 40) + " refs/heads/work\n\n"),
			"git cat-file"},
		"300 MB of zeros":         {bundle(bomb), "its objects have more than"},
		"a cut one":               {cut[:len(cut)-30], "the worker's bundle"},
		"a wrong sum":             {append(cut[:len(cut)-1:len(cut)-1], cut[len(cut)-1]^1), "index-pack"},
		"a file .git":             {bundle(file("100644", ".git", "gitdir: /tmp\n")), "index-pack"},
		"a file .GIT":             {bundle(file("100644", ".GIT", "gitdir: /tmp\n")), "index-pack"},
		"a hook":                  {bundle(nest(".git", "hooks", "pre-commit")), "index-pack"},
		"a hook in a folder":      {bundle(nest("sub", ".git", "hooks", "pre-commit")), "index-pack"},
		"a hook in git~1":         {bundle(nest("git~1", "hooks", "pre-commit")), "index-pack"},
		"a path ..":               {bundle(nest("..", "x")), "index-pack"},
		"a long path":             {bundle(nest(long...)), "is a path of 1205 bytes"},
		"a path with a slash":     {bundle(file("100644", "../x", "x")), "index-pack"},
		"an absolute path":        {bundle(file("100644", "/tmp/x", "x")), "index-pack"},
		"an empty name":           {bundle(file("100644", "", "x")), "index-pack"},
		"a link to /":             {bundle(file("120000", "l", "/etc/passwd")), "l is a link to"},
		"a link up":               {bundle(file("120000", "l", "../x")), "l is a link to"},
		"a link up behind a name": {bundle(file("120000", "l", "sub/../../x")), "l is a link to"},
		"a link to .git":          {bundle(file("120000", "l", ".git/hooks")), "l is a link to"},
		"an empty link":           {bundle(file("120000", "l", "")), "l is a link to"},
		"a link .gitmodules":      {bundle(file("120000", ".gitmodules", "x")), "index-pack"},
		"a submodule": {
			bundle([]hostile.Object{pointer, hostile.CommitOf(pointer, base)}), "lib is a submodule",
		},
		"a tree that does not parse": {
			bundle(broken(hostile.Object{Kind: hostile.Tree, Data: []byte("100644 f")}, base)), "index-pack",
		},
		"a commit that does not parse": {
			bundle([]hostile.Object{{Kind: hostile.Commit, Data: []byte("tree x\n")}}), "index-pack",
		},
		"an unknown mode":           {bundle(file("777", "f", "x")), "f is a submodule"},
		"an object that is missing": {bundle(file("100644", "f", "missing")[1:]), "index-pack"},
		"history without the base":  {bundle([]hostile.Object{blob, good[0], good[1], orphan}), "history was rewritten"},
		"a name twice": {bundle(func() []hostile.Object {
			tr := hostile.TreeOf([2]string{"120000 d", blob.ID()}, [2]string{"40000 d", good[1].ID()})
			return []hostile.Object{blob, good[0], good[1], tr, hostile.CommitOf(tr, base)}
		}()), "index-pack"},
	} {
		t.Run(name, func(t *testing.T) {
			before := w.gitOfRun("count-objects", "-v")
			path := filepath.Join(t.TempDir(), "bundle")
			w.ok(os.WriteFile(path, c.text, 0o600))
			commit, err := r.Import(t.Context(), path, 10<<20, base)
			if c.want == "" {
				w.ok(err)
				w.want("the commit", w.gitOfRun("cat-file", "-t", commit), "commit")
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
			w.want("the objects", w.gitOfRun("count-objects", "-v"), before)
		})
	}
	w.gitOfRun("fsck", "--strict")
	left, _ := filepath.Glob(filepath.Join(w.own(), "objects/tmp_*"))
	w.want("folders that are left", strings.Join(left, " "), "")
	_, err := r.Import(t.Context(), t.TempDir(), 10<<20, base)
	w.refused(err, "no file")
}

func blobOf(text string) hostile.Object {
	return hostile.Object{Kind: hostile.Blob, Data: []byte(text)}
}

// broken makes a commit with a tree.
func broken(tree hostile.Object, base string) []hostile.Object {
	return []hostile.Object{tree, hostile.CommitOf(tree, base)}
}

// TestOwn opens a repository again whose process was killed. What that one left is gone.
func TestOwn(t *testing.T) {
	w := newWorld(t, "")
	o := Options{Project: w.project, Env: w.env(), PrivateDir: filepath.Join(t.TempDir(), "own")}
	for range 2 {
		if _, err := Open(t.Context(), o); err != nil { // Close is not called
			t.Fatal(err)
		}
		left := filepath.Join(o.PrivateDir, "left")
		if _, err := os.Stat(left); err == nil {
			t.Error("what a killed process left is still there")
		}
		if err := os.WriteFile(left, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWorker takes a bundle through a worker's repository and back.
func TestWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	r := w.open()
	all := filepath.Join(t.TempDir(), "all")
	w.ok(r.Bundle(t.Context(), all, "", w.head()))
	clone := filepath.Join(t.TempDir(), "worker")
	w.git(w.top, "clone", "-q", "-b", "work", all, clone)
	w.want("the file", w.read(clone, "a.txt"), "one\ntwo\nthree\n")
	w.write(clone, "a.txt", "one\n")
	w.git(clone, "-c", "user.name=w", "-c", "user.email=w", "commit", "-qam", "A worker's")
	there, err := Open(t.Context(), Options{Project: clone, Env: w.env()})
	w.ok(err)
	defer there.Close()
	back := filepath.Join(t.TempDir(), "back")
	w.ok(there.Bundle(t.Context(), back, w.head(), w.git(clone, "rev-parse", "HEAD")))
	commit, err := r.Import(t.Context(), back, 1<<20, w.head())
	w.ok(err)
	m, err := r.Merge(t.Context(), w.head(), Work{Commit: commit, Base: w.head(), Feature: "f"})
	w.ok(err)
	w.ok(r.Forward(t.Context(), w.head(), m.Commit))
	w.want("the file", w.read(w.project, "a.txt"), "one\n")
	w.clean()
}

// A git that was killed while it made a bundle does not keep the next one from it.
func TestBundleAfterKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	r := w.open()
	file := filepath.Join(t.TempDir(), "bundle")
	w.ok(os.WriteFile(file+".lock", []byte("# v2 git"), 0o600))
	w.ok(r.Bundle(t.Context(), file, "", w.head()))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := r.Bundle(ctx, file, "", w.head()); err == nil {
		t.Error("a bundle is made after the end")
	}
	if left, _ := filepath.Glob(file + ".*"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// FuzzPack reads packs that nobody made. Each is refused, or has no more than the limit.
func FuzzPack(f *testing.F) {
	f.Add(hostile.Pack(blobOf("x"), hostile.TreeOf())[:])
	f.Add([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		const limit = 1 << 20
		err := scanPack(reader(text), limit, 20)
		if err == nil && len(text) >= 12 && binary.BigEndian.Uint32(text[8:]) > limit/perObject {
			t.Error("more objects than the limit allows")
		}
	})
}

// FuzzLink compares links with where they lead: a link that is taken never leaves the folder.
func FuzzLink(f *testing.F) {
	f.Add("a/b", "../c")
	f.Add("a", "..")
	f.Fuzz(func(t *testing.T, name, target string) {
		if !filepath.IsLocal(name) || filepath.Clean(name) != name || !leadsInside(name, target) {
			return
		}
		if to := filepath.Join(filepath.Dir(name), target); !filepath.IsLocal(to) {
			t.Errorf("%q in %q leads to %q", target, name, to)
		}
	})
}

func reader(text []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(text)) }
