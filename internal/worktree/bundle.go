package worktree

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// bundleRef is the one ref of a bundle.
const bundleRef = heads + "work"

// Bundle writes what the commit to has and the commit from has not into a file. An empty from means all. Nobody else
// may write that file.
func (r *Repo) Bundle(ctx context.Context, file, from, to string) error {
	r.merging.Lock()
	defer r.merging.Unlock()
	lock := file + ".lock" // a git that was killed leaves it, and then no other one writes the file
	_ = os.Remove(lock)
	defer os.Remove(lock)
	ref := filepath.Join(r.privateDir, filepath.FromSlash(bundleRef))
	if err := os.WriteFile(ref, []byte(to+"\n"), 0o600); err != nil {
		return err
	}
	args := []string{"bundle", "create", "-q", file, bundleRef}
	if from != "" {
		args = append(args, "^"+from)
	}
	_, err := privateGit{r: r}.git(ctx, args...)
	return err
}

// Unbundle takes the commit of a bundle of the run, which is believed.
func (r *Repo) Unbundle(ctx context.Context, file string) error {
	_, err := privateGit{r: r}.git(ctx, "bundle", "unbundle", file)
	return err
}

// Has reports whether a commit is there.
func (r *Repo) Has(ctx context.Context, commit string) bool {
	_, err := privateGit{r: r}.git(ctx, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// Anchor names a commit. Git takes a bundle only if what it builds on comes from a name.
func (r *Repo) Anchor(commit string) error {
	return os.WriteFile(filepath.Join(r.privateDir, filepath.FromSlash(heads), "base"), []byte(commit+"\n"), 0o600)
}

// imports begins the names of folders with objects of a bundle that is looked at. Git removes old ones with such names.
const imports = "tmp_objdir-ralph-"

// Import takes the commit of a worker's bundle into the repository's objects, and returns it. No ref moves, and nothing
// is checked out. The worker is not believed: its bundle has one ref and objects of at most max bytes together, each of
// which is whole; its commit comes from base, and adds at most max bytes to the work tree; no file that it changes is a
// submodule, a link that leads out of the work tree, or in the place of a folder above the loop's own files.
func (r *Repo) Import(ctx context.Context, file string, max int64, base string) (commit string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	commit, at, err := readBundle(f, max)
	if err != nil {
		return "", fmt.Errorf("the worker's bundle: %w", err)
	}
	aside, err := os.MkdirTemp(r.objects, imports)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(aside)
	if err := r.index(ctx, f, at, aside); err != nil {
		return "", fmt.Errorf("the worker's bundle: %w", err)
	}
	if err := r.judge(ctx, privateGit{r: r, objects: aside, alternate: r.objects}, commit, base, max); err != nil {
		return "", fmt.Errorf("the worker's bundle: %w", err)
	}
	return commit, keep(filepath.Join(aside, "pack"), filepath.Join(r.objects, "pack"))
}

// maxHead is the largest beginning of a bundle: a base that is no ancestor of a worker's many commits.
const maxHead = 1 << 20

// readBundle reads the beginning of a bundle, and looks through its objects. at is where they begin.
func readBundle(f *os.File, max int64) (commit string, at int64, err error) {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > max {
		return "", 0, errors.Join(err, fmt.Errorf("it is larger than %d bytes, or no file", max))
	}
	in := bufio.NewReader(io.LimitReader(f, maxHead))
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return "", 0, errors.New("it has no beginning of a bundle")
		}
		first := at == 0
		at += int64(len(line))
		switch line = strings.TrimSuffix(line, "\n"); {
		case first:
			if line != "# v2 git bundle" && line != "# v3 git bundle" {
				return "", 0, errors.New("it is no bundle")
			}
		case strings.HasPrefix(line, "@object-format=") || strings.HasPrefix(line, "-"):
		case line == "":
			if commit == "" {
				return "", 0, errors.New("it names no commit")
			}
			if _, err := f.Seek(at, io.SeekStart); err != nil {
				return "", 0, err
			}
			return commit, at, scanPack(bufio.NewReaderSize(f, 1<<16), max, len(commit)/2)
		default:
			id, name, _ := strings.Cut(line, " ")
			if commit != "" || name != bundleRef || !isID(id) {
				return "", 0, fmt.Errorf("it must have the ref %s alone, and has %q", bundleRef, plain.Line(line, 200))
			}
			commit = id
		}
	}
}

// isID reports whether a text is the id of an object.
func isID(id string) bool {
	return (len(id) == 40 || len(id) == 64) && strings.Trim(id, "0123456789abcdef") == ""
}

// index has git check and index the objects of a bundle, which begin at a place in it, in a folder of their own.
func (r *Repo) index(ctx context.Context, f *os.File, at int64, aside string) error {
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(aside, "pack"), 0o755); err != nil {
		return err
	}
	c := privateGit{r: r, objects: aside, alternate: r.objects}.command("index-pack", "--stdin", "--strict", "--fix-thin")
	c.Input = f
	_, err := proc.GitOutput(ctx, c, "index-pack")
	return err
}

// judge looks at a worker's commit, whose objects are not the repository's yet.
func (r *Repo) judge(ctx context.Context, git privateGit, commit, base string, max int64) error {
	if kind, err := git.line(ctx, "cat-file", "-t", commit); err != nil || kind != "commit" {
		return errors.Join(err, fmt.Errorf("%.12s is no commit", commit))
	}
	if _, err := git.git(ctx, "merge-base", "--is-ancestor", base, commit); err != nil {
		return fmt.Errorf("%w: commit %.12s does not come from %.12s", ErrHistory, commit, base)
	}
	if _, err := git.git(ctx, "rev-list", "--objects", "--quiet", commit, "^"+base); err != nil {
		return fmt.Errorf("objects are missing: %w", err)
	}
	if err := git.checkSize(ctx, commit, base, max); err != nil {
		return err
	}
	files, err := changesIn(ctx, git, base, commit)
	if err != nil {
		return err
	}
	var links []change
	for _, f := range files {
		if err := r.judgeFile(f); err != nil {
			return fmt.Errorf("%s %w", plain.Line(f.name, 300), err)
		}
		if f.newMode == symlink {
			links = append(links, f)
		}
	}
	return judgeLinks(ctx, git, links)
}

// extent is how many files and folders a commit has, and how many bytes they have together. It reads what git ls-tree
// prints: the size of each file, and a line for each folder. One object can be many of them.
type extent struct {
	files, maxFiles int64
	bytes, maxBytes int64
	line            []byte
	cancel          func() // is called when there is more than there may be
}

// Write reads the next part of what git prints.
func (e *extent) Write(p []byte) (int, error) {
	for _, c := range p {
		if c != '\n' {
			e.line = append(e.line, c)
			continue
		}
		size, _ := strconv.ParseInt(string(e.line), 10, 64) // a folder has none
		e.line = e.line[:0]
		e.files++
		e.bytes += size
		if e.exceedsLimit() {
			e.cancel()
			break
		}
	}
	return len(p), nil
}

func (e *extent) exceedsLimit() bool { return e.files > e.maxFiles || e.bytes > e.maxBytes }

// measure fills in the extent of a commit, as far as it is not over.
func (a privateGit) measure(ctx context.Context, commit string, e *extent) error {
	ctx, e.cancel = context.WithCancel(ctx)
	defer e.cancel()
	c := a.command("ls-tree", "-r", "-t", "--full-tree", "--format=%(objectsize)", commit)
	c.Stdout = e
	r := proc.Run(ctx, c)
	if r.Err != nil && !e.exceedsLimit() {
		return fmt.Errorf("git ls-tree: %s", plain.Line(cmp.Or(string(r.Output), r.Err.Error()), 400))
	}
	return nil
}

// maxMade is how many files and folders a session may add.
const maxMade = 100_000

// checkSize refuses a commit whose files would be many, or large, beyond those of base, in the work tree: a few objects
// can be any number of files. Git would keep the names of all in memory.
func (a privateGit) checkSize(ctx context.Context, commit, base string, max int64) error {
	before := extent{maxFiles: math.MaxInt64, maxBytes: math.MaxInt64}
	if err := a.measure(ctx, base, &before); err != nil {
		return err
	}
	after := extent{maxFiles: before.files + maxMade, maxBytes: before.bytes + max}
	if err := a.measure(ctx, commit, &after); err != nil {
		return err
	}
	if after.exceedsLimit() {
		return fmt.Errorf("it adds more than %d files and folders, or %d bytes, to the work tree", maxMade, max)
	}
	return nil
}

// maxPath bounds the path of a worker's file, in bytes. Linux takes 4 KiB with the folder of the project.
const maxPath = 1 << 10

// judgeFile refuses a file that would lead out of the work tree, or stand in the way of the loop's own files.
func (r *Repo) judgeFile(f change) error {
	switch {
	case f.isDeletion():
		return nil
	case !filepath.IsLocal(filepath.FromSlash(f.name)):
		return errors.New("is no path below the project")
	case len(f.name) > maxPath:
		return fmt.Errorf("is a path of %d bytes, and may have %d", len(f.name), maxPath)
	case f.newMode == gitlink:
		return errors.New("is a submodule")
	}
	for _, e := range r.except {
		if len(e) > len(f.name) && same(e[:len(f.name)], f.name) && e[len(f.name)] == '/' {
			return fmt.Errorf("stands in the place of a folder, that of %s", e)
		}
	}
	return nil
}

// judgeLinks refuses links that lead out of the work tree.
func judgeLinks(ctx context.Context, git privateGit, links []change) error {
	var ids strings.Builder
	for _, f := range links {
		ids.WriteString(f.newID + "\n")
	}
	if len(links) == 0 {
		return nil
	}
	out, err := git.feed(ctx, []byte(ids.String()), "cat-file", "--batch")
	if err != nil {
		return err
	}
	targets, err := proc.GitBlobs(out, len(links))
	if err != nil {
		return err
	}
	for i, target := range targets {
		if !leadsInside(links[i].name, target) {
			return fmt.Errorf("%s is a link to %q, which is not in the work tree", plain.Line(links[i].name, 300),
				plain.Line(target, 200))
		}
	}
	return nil
}

// InGit reports whether a path has a part that git, or a file system, takes for git's own folder.
func InGit(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(part string) bool {
		return strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1")
	})
}

// symlink is the mode of a link.
const symlink = "120000"

// leadsInside reports whether a link stays in the work tree, whatever other links are there: it first goes up, never
// above the root, and then only down. It never leads into a folder .git.
func leadsInside(name, target string) bool {
	if target == "" || len(target) > 4096 || strings.ContainsAny(target, "\x00\\") || path.IsAbs(target) ||
		filepath.IsAbs(target) || filepath.VolumeName(target) != "" {
		return false
	}
	depth, down := strings.Count(name, "/"), false
	for _, part := range strings.Split(target, "/") {
		switch {
		case part == "..":
			if depth--; depth < 0 || down {
				return false
			}
		case part == "" || part == ".":
		case InGit(part):
			return false
		default:
			down = true
		}
	}
	return true
}

// keep moves packs into the repository. The file that makes git see a pack is moved last.
func keep(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, last := range []bool{false, true} {
		for _, f := range files {
			if (filepath.Ext(f.Name()) == ".idx") == last {
				if err := os.Rename(filepath.Join(from, f.Name()), filepath.Join(to, f.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
