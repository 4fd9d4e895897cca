package room

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Proof is the tree in which checks are to run.
type Proof struct {
	Tree string   // its id
	Left []Change // what is in it otherwise than in the project

	Rules bool // a .gitignore differs from what was trusted
}

// Edit is a file that differs between two trees.
type Edit struct {
	Path    string
	Was, Is string // the ids of what it says in both

	// Stray is set for a link of the second tree that does not lead to a file whose edit counts.
	Stray bool

	mode string // as it is in the second tree; that of a file that is gone is noMode
	was  string // its mode in the first tree
	to   string // where a link of the second tree leads; "" if only the links on its way tell
}

// Added reports whether the first tree does not have the file.
func (e Edit) Added() bool { return e.was == noMode }

const (
	noMode     = "000000"
	folderMode = "040000"
	linkMode   = "120000"
)

// Rule says which changes count.
type Rule struct {
	Name string // another rule has another name
	// Why says why a change does not count; "" if it does.
	Why func(Edit) string
	// Lent are the paths of folders of the project to which Fill links.
	Lent []string
}

// Prove makes the tree that has what counts of the changes from trusted to now, and all else as it is in trusted.
// No link in it leads out of the room.
func (r Room) Prove(ctx context.Context, trusted, now string, rule Rule) (Proof, error) {
	key := trusted + " " + now + " " + rule.Name
	var last lastProof
	r.read("proof.json", &last)
	if last.Key == key {
		return last.Proof, nil
	}
	edits, err := r.diff(ctx, trusted, now)
	if err != nil {
		return Proof{}, err
	}
	if err := r.noteLinks(ctx, now, edits); err != nil {
		return Proof{}, err
	}
	p := prover{Room: r, ctx: ctx, rule: rule}
	p.judge(edits)
	p.proof.Tree = now
	if len(p.refused) > 0 {
		err = p.apply(trusted)
	}
	if kept := r.known(); err == nil && !(kept.NoLinks && kept.Trusted == trusted) {
		err = p.withoutLinksOut()
	}
	if err != nil {
		return Proof{}, err
	}
	p.tell()
	r.write("proof.json", lastProof{key, p.proof})
	return p.proof, nil
}

// lastProof is what Prove returned last, for the key.
type lastProof struct {
	Key   string
	Proof Proof
}

// Last returns what was left out when somebody looked last. It does not look at the project.
func (r Room) Last(trusted string) []Change {
	var last lastProof
	r.read("proof.json", &last)
	if !strings.HasPrefix(last.Key, trusted+" ") {
		return nil
	}
	return slices.Concat(r.known().Left, last.Proof.Left)
}

// Text returns what a file of an Edit says; nil if it has no such file.
func (r Room) Text(ctx context.Context, id string) []byte {
	if strings.Trim(id, "0") == "" {
		return nil
	}
	text, err := r.git(ctx, r.Git, filled, nil, "cat-file", "blob", id)
	if err != nil {
		return nil
	}
	return text
}

// diff returns the files that differ between two trees, and the folders that only the second one has.
func (r Room) diff(ctx context.Context, from, to string) (edits []Edit, err error) {
	if from == to {
		return nil, nil
	}
	out, err := r.git(ctx, r.Git, filled, nil, "diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", "--no-abbrev",
		from, to)
	if err != nil {
		return nil, fmt.Errorf("the trusted tree cannot be compared: %w", err)
	}
	words := proc.GitTexts(out)
	for i := 0; i+1 < len(words); i += 2 {
		fields := strings.Fields(strings.TrimPrefix(words[i], ":")) // MODE MODE ID ID STATUS
		if len(fields) != 5 {
			return nil, fmt.Errorf("git diff-tree: %q", words[i])
		}
		edits = append(edits, Edit{Path: words[i+1], Was: fields[2], Is: fields[3], mode: fields[1], was: fields[0]})
	}
	return edits, nil
}

// noteLinks notes where the links among the edits lead that make a tree.
func (r Room) noteLinks(ctx context.Context, tree string, edits []Edit) error {
	if !slices.ContainsFunc(edits, func(e Edit) bool { return e.mode == linkMode }) {
		return nil
	}
	links, err := r.links(ctx, tree)
	for i := range edits {
		e := &edits[i]
		words := links[e.Path]
		for strings.HasPrefix(words, "../") {
			words = words[len("../"):]
		}
		if e.mode == linkMode && !strings.Contains(words, "..") { // a folder before ".." may be a link
			e.to = path.Join(path.Dir(e.Path), links[e.Path])
		}
	}
	return err
}

// links returns what the links of a tree say, by path.
func (r Room) links(ctx context.Context, tree string) (links map[string]string, err error) {
	out, err := r.git(ctx, r.Git, filled, nil, "ls-tree", "-r", "-z", tree)
	if err != nil {
		return nil, err
	}
	var order []string
	ids := new(bytes.Buffer)
	for _, line := range proc.GitTexts(out) {
		about, name, _ := strings.Cut(line, "\t") // MODE blob ID
		if id, isLink := strings.CutPrefix(about, linkMode+" blob "); isLink {
			order = append(order, name)
			fmt.Fprintln(ids, id)
		}
	}
	if len(order) == 0 {
		return nil, nil
	}
	out, err = r.git(ctx, r.Git, filled, ids.Bytes(), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	texts, err := proc.GitBlobs(out, len(order))
	links = map[string]string{}
	for i, text := range texts {
		links[order[i]] = text
	}
	return links, err
}

type prover struct {
	Room
	ctx     context.Context
	rule    Rule
	proof   Proof
	counts  []Edit
	refused map[string]string // why, by path
	folders []string          // new ones
	stays   map[string]bool   // trusted files that the project has no more
}

// judge decides which edits count, those of links last: they depend on others. What would take the place of a file that
// stays does not count.
func (p *prover) judge(edits []Edit) {
	p.refused, p.stays = map[string]string{}, map[string]bool{}
	var links []Edit
	for _, e := range edits {
		p.proof.Rules = p.proof.Rules || path.Base(e.Path) == ".gitignore"
		switch {
		case e.mode == folderMode && e.Added():
			p.folders = append(p.folders, e.Path)
		case e.mode == linkMode && e.was != folderMode:
			links = append(links, e)
		case e.mode != folderMode && e.was != folderMode:
			p.one(e)
		}
	}
	p.refuseBlocked()
	files := map[string]bool{}
	for _, e := range p.counts {
		files[e.Path] = e.mode != noMode
	}
	for _, e := range links {
		e.Stray = !files[e.to]
		p.one(e)
	}
	p.refuseBlocked()
}

// refuseBlocked refuses what would take the place of a file that stays.
func (p *prover) refuseBlocked() {
	p.counts = slices.DeleteFunc(p.counts, func(e Edit) bool {
		if e.mode == noMode || !p.blocked(e.Path) {
			return false
		}
		p.refused[e.Path] = inTheWay
		return true
	})
}

func (p *prover) one(e Edit) {
	why := p.rule.Why(e)
	if why == "" {
		p.counts = append(p.counts, e)
		return
	}
	p.refused[e.Path] = why
	if e.mode == noMode {
		p.stays[e.Path] = true
	}
}

// blocked reports whether a file that stays is above a path, or below it.
func (p *prover) blocked(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if p.stays[dir] {
			return true
		}
	}
	for stays := range p.stays {
		if strings.HasPrefix(stays, name+"/") {
			return true
		}
	}
	return false
}

// apply writes the tree that has of all edits those that count.
func (p *prover) apply(trusted string) error {
	name, remove, err := p.temporaryIndex("prove-")
	if err != nil {
		return err
	}
	defer remove()
	if _, err := p.git(p.ctx, p.Git, name, nil, "read-tree", trusted); err != nil {
		return err
	}
	in := new(bytes.Buffer)
	// What is gone goes first, so that something else can take its place.
	slices.SortStableFunc(p.counts, func(a, b Edit) int { return strings.Compare(a.mode, b.mode) })
	for _, e := range p.counts {
		if e.mode == noMode {
			e.mode = "0"
			e.Is = none
		}
		fmt.Fprintf(in, "%s %s\t%s\x00", e.mode, e.Is, e.Path)
	}
	if in.Len() > 0 {
		if _, err := p.git(p.ctx, p.Git, name, in.Bytes(), "update-index", "-z", "--index-info"); err != nil {
			return err
		}
	}
	p.proof.Tree, err = p.writeTree(p.ctx, name)
	return err
}

// maxTold is how many changes that do not count are named.
const maxTold = 200

// tell notes what does not count. Of a new folder in which nothing counts, it names only the folder.
func (p *prover) tell() {
	slices.Sort(p.folders)
	used := map[string]bool{} // folders in which something counts
	for _, e := range p.counts {
		for dir := path.Dir(e.Path); dir != "."; dir = path.Dir(dir) {
			used[dir] = true
		}
	}
	whole := slices.DeleteFunc(p.folders, func(dir string) bool { return used[dir] })
	told := map[string]bool{}
	var left []Change
	for name, why := range p.refused {
		shown := name
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, is := slices.BinarySearch(whole, dir); is {
				shown = dir + "/"
			}
		}
		if !told[shown] {
			told[shown] = true
			left = append(left, Change{shown, why})
		}
	}
	slices.SortFunc(left, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	if more := len(left) - maxTold; more > 0 {
		left = append(left[:maxTold], Change{strconv.Itoa(more) + " more", left[maxTold].Why})
	}
	p.proof.Left = append(p.proof.Left, left...)
}

// withoutLinksOut takes links out of the tree to prove that lead out of the room.
func (p *prover) withoutLinksOut() error {
	links, err := p.links(p.ctx, p.proof.Tree)
	if err != nil {
		return err
	}
	var bad []Edit
	for _, name := range slices.Sorted(maps.Keys(links)) {
		if leaves(links, p.rule.Lent, name) {
			bad = append(bad, Edit{Path: name, mode: noMode})
			p.proof.Left = append(p.proof.Left, Change{name, leadsOut})
		}
	}
	if len(bad) == 0 {
		return nil
	}
	tree := prover{Room: p.Room, ctx: p.ctx, counts: bad}
	if err := tree.apply(p.proof.Tree); err != nil {
		return err
	}
	p.proof.Tree = tree.proof.Tree
	return nil
}

// maxSteps is how many names and links are followed to see where a link leads. The system follows at most 40 links.
const maxSteps = 1000

// leaves reports whether a link leads out of a tree in which these are all the links, also by a folder on its way that
// is a link. links has their texts by path. From a folder that is lent, ".." leads into the project.
func leaves(links map[string]string, lent []string, link string) bool {
	at, todo := path.Dir(link), path.Base(link)
	for range maxSteps {
		if strings.HasPrefix(todo, "/") || filepath.IsAbs(filepath.FromSlash(todo)) || strings.HasPrefix(todo, `\`) {
			return true
		}
		if todo == "" {
			return false
		}
		name, rest, _ := strings.Cut(todo, "/")
		todo = strings.TrimLeft(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			if at == "." || within(lent, at) {
				return true
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, name)
		text, is := links[next]
		if !is {
			at = next
			continue
		}
		todo = text + "/" + todo
	}
	return true // in circles
}
