package proof

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Change is a file that is in the copy not as it is in the project.
type Change struct {
	Path string `json:"path"` // from the top on; a folder ends with a slash
	Why  string `json:"why"`
}

// Rule says which changes count. Paths are from the top on.
type Rule struct {
	// Why says why a change of a file does not count; "" if it does.
	Why func(name string, added bool) string
	// Keys are those of a JSON file that stay as they were trusted.
	Keys func(name string) []string
	// InCopy reports whether the copy has its own of a file or folder that git ignores.
	InCopy func(name string) bool
}

// Why a change of a file does not count, as its Rule says.
const (
	IsProtected = `"protect" names it`
	IsNotWork   = `"work" does not name it`
)

// Why a file is in the copy not as it is in the project.
const (
	tooLarge       = "it is larger than 256 MiB"
	notRegular     = "it is a pipe, a socket or a device"
	unreadable     = "it cannot be read"
	inTheWay       = "a file that stays as it was is in its place"
	misread        = "a program or a shell could misread its name"
	leadsOut       = "the link leads out of the project"
	leadsToGit     = "the link leads into .git"
	leadsToIgnored = "the link leads to what git ignores"
	tooLong        = "it is larger than 4 MiB, and has keys that stay as they were"
	notJSON        = "it is no JSON object, or has a key twice"

	partProtected = `"protect" names a part of it`
)

// maxFile is the size of the largest file that counts if it has changed, in bytes.
const maxFile = 256 << 20

// maxKeys is the size of the largest file of which keys can be protected, in bytes.
const maxKeys = 4 << 20

// Look is what the copy is to have, and why.
type Look struct {
	ID           string // the same for two looks after which checks find the same
	NotCounted   []Change
	ProjectFiles tree.Entries // the project's files

	baseline *Baseline
	rule     Rule
	project  string // the top of the project
	want     Index
	used     map[string]bool // folders above these
	folders  map[string]bool // and empty ones
	ignored  []string        // files and folders of the project that git ignores
}

// seenFile is the index of what was seen of the project last.
const seenFile = "seen"

// lastFile has the changes that did not count at the last look, and of which baseline that was.
const lastFile = "not-counted.json"

// Trust stores a project as it is now, and returns its baseline and what of it cannot be taken.
func (p Place) Trust(ctx context.Context, top string, entries tree.Entries) (*Baseline, []Change, error) {
	if err := p.makeStore(); err != nil {
		return nil, nil, err
	}
	l, err := p.begin(top, entries, true)
	if err != nil {
		return nil, nil, err
	}
	defer l.root.Close()
	l.pack, err = os.CreateTemp(p.Store, newPrefix+"*-pack")
	if err != nil {
		return nil, nil, p.orFull(err)
	}
	defer os.Remove(l.pack.Name()) // unless it was renamed
	defer l.close()
	var files []tree.Entry
	for _, e := range entries.List {
		why := cannotTake(&e)
		if why != "" {
			l.leave(e.Path, why)
			continue
		}
		files = append(files, e)
	}
	var baseline Index
	now := time.Now()
	l.now = l.packAll(ctx, files)
	for i, found := range l.now {
		if found.Hash == "" {
			l.leave(found.Path, unreadable)
			continue
		}
		f := *found
		f.Ignored = files[i].Ignored
		f.Written = files[i].Written
		if f.Written.After(now) { // make would wait for it
			f.Written = now
		}
		f.Stamp = ""
		baseline = append(baseline, &f)
	}
	if err := cmp.Or(ctx.Err(), l.err); err != nil {
		return nil, nil, err
	}
	text := formatIndex(baseline)
	b := &Baseline{ID: digest(text), Files: baseline, folders: foldersOf(baseline)}
	err = l.pack.Close()
	if err == nil {
		err = rename(l.pack.Name(), filepath.Join(p.Store, packPrefix+b.ID))
	}
	if err != nil {
		return nil, nil, err
	}
	_, err = p.Baseline(b.ID)
	if err != nil { // else another process may read it now
		err = p.write(baselinePrefix+b.ID, text)
	}
	err = errors.Join(err, p.write(p.named(seenFile), formatIndex(l.now)))
	return b, l.NotCounted, err
}

// packAll stores what files of the project say, one behind the other: to make a file takes longer than to copy most of
// them.
func (l *looker) packAll(ctx context.Context, entries []tree.Entry) Index {
	begins := make([]int64, len(entries)+1)
	for i, e := range entries {
		begins[i+1] = begins[i]
		if e.Mode.IsRegular() {
			begins[i+1] += e.Size
		}
	}
	return l.inFolders(ctx, entries, func(root *os.Root, i int) (File, error) {
		return l.packOne(root, &entries[i], begins[i])
	})
}

// packOne returns a file without a hash if it cannot be read.
func (l *looker) packOne(root *os.Root, e *tree.Entry, at int64) (f File, err error) {
	f = File{Path: e.Path, Mode: e.Mode}
	if f.isLink() {
		f.Hash, err = l.keepLink(root, e.Path)
		return f, err
	}
	in, err := openRegular(root, path.Base(e.Path))
	if err != nil {
		return f, err
	}
	defer in.Close()
	h, stored := newHash(), &storeWriter{to: io.NewOffsetWriter(l.pack, at)}
	n, err := copyTo(io.MultiWriter(h, stored), io.LimitReader(in, e.Size))
	if stored.err != nil {
		return f, storeError{l.orFull(stored.err)}
	}
	if err != nil {
		return f, err
	}
	more, _ := in.Read(make([]byte, 1))
	if n < e.Size || more > 0 { // it has changed meanwhile, and does not fit
		f.Hash, err = l.keep(root, path.Base(e.Path))
		return f, err
	}
	f.Hash, f.IsPacked, f.At, f.Size = sumOf(h), true, at, e.Size
	if !e.ChangedSince(l.began) {
		f.Stamp = e.Stamp()
	}
	return f, nil
}

func cannotTake(e *tree.Entry) string {
	switch {
	case e.Mode.IsRegular() && e.Size > maxFile:
		return tooLarge
	case !e.Mode.IsRegular() && e.Mode&fs.ModeSymlink == 0:
		return notRegular
	}
	return ""
}

// looker looks at the project.
type looker struct {
	source
	*Look
	root         *os.Root
	keeps        bool             // what counts is stored
	began        time.Time        // files that have changed since may change again without another stamp
	projectFiles Index            // the project's files, as the last look has seen them
	now          Index            // and as this one does
	other        map[string]*File // beside want: changed files, and those that stay although they have
	agents       []string         // files of which the agent's version counts
	err          error            // why something cannot be stored
}

func (p Place) begin(top string, entries tree.Entries, keeps bool) (*looker, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	l := &looker{source: source{Place: p}, root: root, keeps: keeps, began: time.Now()}
	l.projectFiles = p.readIndex(p.named(seenFile))
	entries.List = slices.DeleteFunc(entries.List, l.isBehindLink)
	l.Look = &Look{ProjectFiles: entries, project: top}
	if entries.Closed != nil {
		l.leave(".", plain.Line(entries.Closed.Error(), 300))
	}
	return l, nil
}

func (l *looker) leave(name, why string) { l.NotCounted = append(l.NotCounted, Change{name, why}) }

// Look says what of a project counts. If keeps is set, what Fill needs of it is stored.
func (p Place) Look(ctx context.Context, b *Baseline, top string, entries tree.Entries, rule Rule, keeps bool) (
	*Look, error) {
	l, err := p.begin(top, entries, keeps)
	if err != nil {
		return nil, err
	}
	defer l.root.Close()
	l.baseline, l.rule = b, rule
	l.source = p.source(b.ID)
	defer l.close()
	l.judge(ctx)
	if err := cmp.Or(ctx.Err(), l.err); err != nil {
		return nil, err
	}
	l.addFolders()
	l.tell()
	l.ID = l.digest()
	if keeps {
		_ = p.write(p.named(seenFile), formatIndex(l.now)) // without it, files are read again
		p.writeLast(b.ID, l.NotCounted)
	}
	return l.Look, nil
}

// judge decides what the copy is to have.
func (l *looker) judge(ctx context.Context) {
	files := l.baseline.Files
	l.want = make(Index, 0, len(files))
	l.now = make(Index, 0, len(l.ProjectFiles.List))
	l.other = map[string]*File{}
	trusted, seen := files.inOrder(), l.projectFiles.inOrder()
	var differ []tree.Entry
	for i := range l.ProjectFiles.List {
		e := &l.ProjectFiles.List[i]
		was, known := trusted(e.Path), seen(e.Path)
		if was != nil && known != nil && known.Stamp != "" && e.HasStamp(known.Stamp) && known.same(was) {
			l.want = append(l.want, was)
			l.now = append(l.now, known)
			continue
		}
		why := cannotTake(e)
		if why == "" && was == nil {
			why = l.whyAdded(e.Path)
		}
		if why == "" {
			differ = append(differ, *e)
			continue
		}
		l.stays(e.Path, why)
	}
	here := tree.ByPath(l.ProjectFiles.List)
	for _, f := range files {
		name := f.Path
		_, is := here.Find(name)
		if is {
			continue
		}
		why := l.rule.Why(name, false)
		switch {
		case why != "":
		case within(l.ProjectFiles.Shut, name):
			why = unreadable
		case len(l.rule.Keys(name)) > 0:
			why = partProtected
		}
		if why != "" {
			l.stays(name, why)
		}
	}
	found := l.read(ctx, differ)
	l.now = merge(l.now, found)
	var links []string
	for _, f := range found {
		was := l.baseline.Files.Find(f.Path)
		switch {
		case f.Hash == "":
			l.stays(f.Path, unreadable)
		case was != nil && f.same(was):
			l.other[f.Path] = was
		case was != nil && l.rule.Why(f.Path, false) != "":
			l.stays(f.Path, l.rule.Why(f.Path, false))
		default:
			l.takeAgents(*f)
			if f.isLink() {
				links = append(links, f.Path)
			}
		}
	}
	l.refuseBlocked()
	l.judgeLinks(links) // of those that are left: one may lead through another
	byPath := func(a, b *File) int { return strings.Compare(a.Path, b.Path) }
	l.want = merge(l.want, slices.SortedFunc(maps.Values(l.other), byPath))
}

// wants reports whether the copy is to have a file, while that is judged.
func (l *looker) wants(name string) bool {
	_, is := l.other[name]
	return is || l.want.Find(name) != nil
}

// all returns what the copy is to have, while that is judged.
func (l *looker) all() Index { return slices.AppendSeq(slices.Clone(l.want), maps.Values(l.other)) }

// isBehindLink reports whether a folder above a file that a rule ignores is a link. Git tracks no such file.
func (l *looker) isBehindLink(e tree.Entry) bool {
	if !e.Ignored {
		return false
	}
	for dir := path.Dir(e.Path); dir != "."; dir = path.Dir(dir) {
		info, err := l.root.Lstat(filepath.FromSlash(dir))
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// stays has the copy have a file as it was trusted, if it was.
func (l *looker) stays(name, why string) {
	l.leave(name, why)
	was := l.baseline.Files.Find(name)
	if was != nil {
		l.other[name] = was
	}
}

func (l *looker) takeAgents(f File) {
	f.Agents = true
	f.Written = time.Time{}
	was := l.baseline.Files.Find(f.Path)
	if keys := l.rule.Keys(f.Path); was != nil && len(keys) > 0 {
		if f.isLink() || was.isLink() {
			l.stays(f.Path, partProtected)
			return
		}
		err := l.holdKeys(keys, &f, was)
		switch {
		case errors.Is(err, errDamaged), errors.As(err, new(storeError)):
			l.err = err
			return
		case err != nil:
			l.stays(f.Path, err.Error())
			return
		}
	}
	if was != nil && f.Hash == was.Hash { // only its permissions have changed
		f.IsPacked, f.At, f.Size = was.IsPacked, was.At, was.Size
	}
	l.other[f.Path] = &f
	l.agents = append(l.agents, f.Path)
}

// whyAdded says why a new file does not count; "" if it may.
func (l *looker) whyAdded(name string) string {
	why := l.rule.Why(name, true)
	if why == "" && isMisread(name) {
		why = misread
	}
	return why
}

// isMisread reports whether a program could take a name for an option, or a shell for more than one word, if a makefile
// or a script hands it over.
func isMisread(name string) bool {
	return strings.Contains("/"+name, "/-") || strings.ContainsAny(name, "`;|&<>\n") || strings.Contains(name, "$(") ||
		strings.Contains(name, "${") || strings.Contains(name, "$IFS") || strings.Contains(name, "$PS4")
}

// read finds out what files of the project say, and stores what may count.
func (l *looker) read(ctx context.Context, entries []tree.Entry) Index {
	return l.inFolders(ctx, entries, func(root *os.Root, i int) (File, error) {
		return l.readOne(root, &entries[i])
	})
}

// inFolders returns what do returns for each file.
func (l *looker) inFolders(ctx context.Context, entries []tree.Entry,
	do func(root *os.Root, i int) (File, error)) Index {
	found := make([]File, len(entries))
	errs := make([]error, len(entries))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Path
	}
	inFolders(ctx, l.root, names, func(i int, root *os.Root, err error) {
		found[i], errs[i] = File{Path: names[i], Mode: entries[i].Mode}, err
		if err == nil {
			found[i], errs[i] = do(root, i)
		}
		if err == nil && errs[i] != nil { // what fails once would be gone for a check, as in tree's walk
			found[i], errs[i] = do(root, i)
		}
	})
	for _, err := range errs {
		if errors.As(err, new(storeError)) {
			l.err = err
		}
	}
	return indexOf(found)
}

// readOne returns a file without a hash if it cannot be read.
func (l *looker) readOne(root *os.Root, e *tree.Entry) (f File, err error) {
	f = File{Path: e.Path, Mode: e.Mode}
	base := path.Base(e.Path)
	was := l.baseline.Files.Find(e.Path)
	counts := l.keeps && (was == nil || l.rule.Why(e.Path, false) == "")
	known := l.projectFiles.Find(e.Path)
	if known != nil && known.Stamp != "" && e.HasStamp(known.Stamp) && (!counts || l.hasObject(known.Hash)) {
		f.Hash = known.Hash
		f.Stamp = e.Stamp()
		return f, nil
	}
	if f.isLink() {
		f.Hash, err = l.keepLink(root, e.Path)
		return f, err
	}
	if !e.ChangedSince(l.began) {
		f.Stamp = e.Stamp()
	}
	if was != nil || !counts {
		f.Hash, err = hashFile(root, base)
	}
	if err == nil && counts && (was == nil || f.Hash != was.Hash) {
		f.Hash, err = l.keep(root, base)
	}
	if err != nil {
		f.Hash = ""
		f.Stamp = ""
	}
	return f, err
}

// keepLink stores where a link leads, and returns the hash of that.
func (l *looker) keepLink(root *os.Root, name string) (sum string, err error) {
	text, err := root.Readlink(path.Base(name))
	if err != nil {
		return "", err
	}
	return l.keepText([]byte(linkText(l.project, name, text)))
}

// linkText returns where a link leads. One that names the project by its whole path leads to the same file of the copy.
// One that leads out of the project leads to the same file from everywhere.
func linkText(project, name, text string) string {
	rest, below := strings.CutPrefix(filepath.ToSlash(text)+"/", filepath.ToSlash(project)+"/")
	rest = cmp.Or(strings.Trim(rest, "/"), ".")
	if below && filepath.IsLocal(filepath.FromSlash(rest)) {
		return strings.Repeat("../", strings.Count(name, "/")) + rest
	}
	to := filepath.Join(filepath.Dir(filepath.FromSlash(name)), text)
	if !filepath.IsAbs(text) && !filepath.IsLocal(to) {
		return filepath.Join(project, to)
	}
	return text
}

func hashFile(root *os.Root, name string) (string, error) {
	in, err := openRegular(root, name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := newHash()
	_, err = copyTo(h, in)
	return sumOf(h), err
}

// openRegular opens a regular file below a folder. It waits for no pipe that has taken its place, and follows no link
// out of the folder.
func openRegular(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// holdKeys has the agent's version of a JSON file have some keys as they were trusted.
func (l *looker) holdKeys(keys []string, now, was *File) error {
	trusted, err := l.text(was, maxKeys)
	if err != nil {
		return err
	}
	in, err := openRegular(l.root, now.Path)
	if err != nil || now.isLink() {
		return errors.New(unreadable)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxKeys+1))
	switch {
	case err != nil:
		return errors.New(unreadable)
	case len(text) > maxKeys:
		return errors.New(tooLong)
	case !isObject(text), !isObject(trusted):
		return errors.New(notJSON)
	}
	for _, key := range keys {
		is, before := gjson.GetBytes(text, key), gjson.GetBytes(trusted, key)
		if sameJSON(is.Raw, before.Raw) {
			continue
		}
		l.leave(now.Path+"#"+key, IsProtected)
		if before.Exists() {
			text, err = sjson.SetRawBytes(text, key, []byte(before.Raw))
		} else {
			text, err = sjson.DeleteBytes(text, key)
		}
		if err != nil {
			return err
		}
	}
	now.Hash, err = l.keepFrom(bytes.NewReader(text), int64(len(text)))
	return err
}

// isObject reports whether a text is a JSON object in which all programs read the same.
func isObject(text []byte) bool {
	withoutBOM, err := jsontext.Check(text)
	return err == nil && len(withoutBOM) == len(text) && gjson.ParseBytes(text).IsObject() &&
		jsontext.DuplicateKey(jsontext.String(text)) == ""
}

// judgeLinks decides which links of the agent's count.
func (l *looker) judgeLinks(changed []string) {
	if len(changed) == 0 {
		return
	}
	links := map[string]string{} // of the copy
	for _, f := range l.all() {
		if !f.isLink() {
			continue
		}
		text, err := l.text(f, maxLink)
		if err != nil {
			l.err = err
			return
		}
		links[f.Path] = string(text)
	}
	hidden := map[string]bool{}
	for _, name := range l.ProjectFiles.Hidden {
		hidden[name] = !l.wants(name) // else git tracks it
	}
	for _, name := range changed {
		_, counts := links[name]
		why := ""
		if counts {
			why = whyLink(links, hidden, name)
		}
		if why != "" {
			delete(l.other, name)
			l.stays(name, why)
		}
	}
}

// maxLink is the longest text of a link, in bytes.
const maxLink = 64 << 10

// whyLink says why a link does not count; "" if it does. It may not even lead through what git ignores: that can be a
// link, too.
func whyLink(links map[string]string, hidden map[string]bool, name string) string {
	isGit := func(name string) bool { return strings.EqualFold(path.Base(name), ".git") }
	end, inside := follow(links, name, func(name string) bool { return hidden[name] || isGit(name) })
	switch {
	case !inside:
		return leadsOut
	case isGit(end):
		return leadsToGit
	case hidden[end]:
		return leadsToIgnored
	}
	return ""
}

// maxSteps is how many names and links are followed to see where a link leads. The system follows at most 40 links.
const maxSteps = 1000

// follow returns where a link leads in a tree in which these are all the links, also by a folder on its way that is a
// link. links has their texts by path. It follows no further than to where stop reports true. inside is false if it
// leads out of the tree, or in circles.
func follow(links map[string]string, link string, stop func(name string) bool) (end string, inside bool) {
	at, todo := path.Dir(link), path.Base(link)
	for range maxSteps {
		if strings.HasPrefix(todo, "/") || filepath.IsAbs(filepath.FromSlash(todo)) || strings.HasPrefix(todo, `\`) {
			return "", false
		}
		if todo == "" {
			return at, true
		}
		name, rest, _ := strings.Cut(todo, "/")
		todo = strings.TrimLeft(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			if at == "." {
				return "", false
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, name)
		text, is := links[next]
		if !is && stop(next) {
			return next, true
		}
		if !is {
			at = next
			continue
		}
		todo = text + "/" + todo
	}
	return "", false
}

// within reports whether a path is that of one of these files and folders, or below it.
func within(names []string, name string) bool {
	return slices.ContainsFunc(names, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
}

// refuseBlocked refuses what would take the place of a file that stays as it was trusted.
func (l *looker) refuseBlocked() {
	for _, name := range l.agents {
		if l.isBlocked(name) {
			delete(l.other, name)
			l.leave(name, inTheWay)
		}
	}
}

func (l *looker) isBlocked(name string) bool {
	if isBelow(name, l.wants) {
		return true
	}
	if !l.baseline.Has(name) {
		return false
	}
	for _, f := range l.all() {
		if !f.Agents && strings.HasPrefix(f.Path, name+"/") {
			return true
		}
	}
	return false
}

// isBelow reports whether one of the folders above a path is one of some files.
func isBelow(name string, isFile func(name string) bool) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if isFile(dir) {
			return true
		}
	}
	return false
}

// wants reports whether the copy is to have a file or a link.
func (l *Look) wants(name string) bool { return l.want.Find(name) != nil }

// addFolders notes which folders the copy is to have, and what of the project it is to have by links.
func (l *looker) addFolders() {
	l.used = foldersOf(l.want)
	l.folders = maps.Clone(l.used)
	for _, name := range l.ProjectFiles.Folders { // a check may need an empty one, too
		if !l.folders[name] && !l.Look.wants(name) && !isBelow(name, l.Look.wants) && l.whyAdded(name+"/x") == "" {
			l.folders[name] = true
			addFolders(l.folders, name)
		}
	}
	l.ignored = l.ProjectFiles.Hidden
}

// tell sorts what does not count. Of a new folder in which nothing counts, it names only the folder, unless something
// is wrong with a file itself.
func (l *looker) tell() {
	told := map[Change]bool{}
	var changes []Change
	for _, c := range l.NotCounted {
		hasFault := l.rule.Why(c.Path, true) == ""
		for dir := path.Dir(c.Path); dir != "." && !hasFault; dir = path.Dir(dir) {
			if !l.used[dir] && !l.baseline.Has(dir) {
				c.Path = dir + "/"
			}
		}
		if !told[c] {
			told[c] = true
			changes = append(changes, c)
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	l.NotCounted = slices.CompactFunc(changes, func(a, b Change) bool { return a.Path == b.Path })
}

// IsIgnored reports whether git ignores a file of the project, or the copy has its own.
func (l *Look) IsIgnored(name string) bool { return within(l.ignored, name) }

// lastLook is what was left out at the last look, and of which baseline that was.
type lastLook struct {
	Baseline   string   `json:"baseline"`
	NotCounted []Change `json:"notCounted"`
}

func (p Place) writeLast(id string, changes []Change) {
	text, err := json.Marshal(lastLook{id, changes})
	if err == nil {
		_ = p.write(p.named(lastFile), text)
	}
}

// LastNotCounted returns what did not count when a stop looked last. It does not look at the project.
func (p Place) LastNotCounted(id string) []Change {
	var last lastLook
	text, err := os.ReadFile(filepath.Join(p.Store, p.named(lastFile)))
	if err != nil || json.Unmarshal(text, &last) != nil || last.Baseline != id {
		return nil
	}
	return last.NotCounted
}

// Differ returns the paths of the files that differ between two baselines, sorted.
func (b *Baseline) Differ(other *Baseline) (names []string) {
	is, was := other.Files.inOrder(), b.Files.inOrder()
	for _, f := range b.Files {
		g := is(f.Path)
		if g == nil || !f.same(g) {
			names = append(names, f.Path)
		}
	}
	for _, f := range other.Files {
		if was(f.Path) == nil {
			names = append(names, f.Path)
		}
	}
	slices.Sort(names)
	return names
}

// sameJSON reports whether two JSON values say the same; "" is none.
func sameJSON(a, b string) bool {
	var x, y any
	if a == "" || b == "" {
		return a == b
	}
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// digest returns the hash of what the copy is to have.
func (l *looker) digest() string {
	h := newHash()
	var line []byte
	for _, f := range l.want {
		line = strconv.AppendBool(append(append(line[:0], f.Path...), 0), f.isLink())
		line = append(strconv.AppendUint(line, uint64(f.Mode.Perm()), 8), ' ')
		line = append(append(line, f.Hash...), 0)
		h.Write(line)
	}
	h.Write([]byte{0}) // no file has such a name
	for _, name := range slices.Sorted(maps.Keys(l.folders)) {
		if !l.used[name] {
			h.Write(append(append(line[:0], name...), 0))
		}
	}
	return sumOf(h)
}
