package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// Lane is one of several workers of a run. It has a git worktree and a branch of its own.
type Lane struct {
	Number  int    `json:"number"` // from 1
	Dir     string `json:"dir"`    // absolute path of its worktree
	Branch  string `json:"branch"`
	Base    string `json:"base"`    // the commit of the loop's branch from which its work begins
	Feature string `json:"feature"` // what it works on, or worked on last; "": the loop as a whole
	Open    bool   `json:"open"`    // it may have work for Feature that is not merged

	Given     string         `json:"given,omitempty"`     // why the merger did not take the work, for the next prompt
	Conflicts []string       `json:"conflicts,omitempty"` // the files in which its agent has to resolve a conflict
	Touched   map[string]int `json:"touched,omitempty"`   // the files in which Feature was in conflict, and how often

	Current *Current `json:"current,omitempty"` // nil: no session runs, and none is to be counted
}

// Merging is a merge whose work is proven. A run that was killed finishes it.
type Merging struct {
	Lane    int    `json:"lane"`
	Feature string `json:"feature"` // "": the work is for the loop as a whole
	Old     string `json:"old"`     // the commit of the loop's branch before it
	New     string `json:"new"`
	Branch  string `json:"branch,omitempty"` // to which New goes; "": to the loop's branch
}

// Left is proven work on a branch of its own, which a person is to merge.
type Left struct {
	Feature string `json:"feature"` // "": the work is for the loop as a whole
	Branch  string `json:"branch"`
	Base    string `json:"base"`   // the commit of the loop's branch on which Commit is
	Commit  string `json:"commit"` // the work
	Told    bool   `json:"told"`   // the commands about the branch have ended well
}

// LeftBranches returns the branches that wait for a person, by feature.
func (r *Run) LeftBranches() map[string]string {
	all := map[string]string{}
	for _, one := range r.Left {
		all[one.Feature] = one.Branch
	}
	return all
}

// Leave notes work that waits for a person, in the place of older work on the same feature.
func (r *Run) Leave(one Left) {
	r.Left = slices.DeleteFunc(r.Left, func(old Left) bool { return old.Feature == one.Feature })
	r.Left = append(r.Left, one)
}

// device matches what names a device on Windows. There no file of git can have such a name.
var device = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(con|prn|aux|nul|com\d|lpt\d)$`) })

// BranchFor returns a name for a branch with the work on a feature. No other feature of the run has it, also where
// names that differ in the case of letters are the same file. An id can be any text, and git takes only some names.
func (r *Run) BranchFor(feature string) string {
	const most = 60
	var b strings.Builder
	for _, c := range cmp.Or(feature, "loop") {
		switch {
		case b.Len() >= most:
		case c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)) || c == '_':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := strings.TrimRight(b.String(), "-")
	branch := "ralph/" + r.ID + "/" + name
	taken := func(one Left) bool { return one.Feature != feature && strings.EqualFold(one.Branch, branch) }
	lower := strings.ToLower(name)
	if name == "" || strings.HasPrefix(lower, "lane-") || device().MatchString(lower) ||
		slices.ContainsFunc(r.Left, taken) {
		sum := sha256.Sum256([]byte(feature))
		branch = strings.TrimSuffix(branch+"-"+hex.EncodeToString(sum[:4]), "-")
		branch = strings.Replace(branch, "/-", "/feature-", 1)
	}
	return branch
}

// AllCurrent returns the sessions that run, or are to be counted.
func (r *Run) AllCurrent() (all []*Current) {
	if r.Current != nil {
		all = append(all, r.Current)
	}
	for i := range r.Lanes {
		if c := r.Lanes[i].Current; c != nil {
			all = append(all, c)
		}
	}
	return all
}

// Forget drops a session that has been counted, or does not count.
func (r *Run) Forget(c *Current) {
	if r.Current == c {
		r.Current = nil
	}
	for i := range r.Lanes {
		if r.Lanes[i].Current == c {
			r.Lanes[i].Current = nil
		}
	}
}

const (
	maxNamed   = 50   // files of a merge with conflicts that a prompt names
	maxTouched = 1000 // those that a lane's record keeps
)

// Conflict gives work back that does not fit to what others have done. It is merged into the worktree before the next
// session.
func (l *Lane) Conflict(files []worktree.Conflict) {
	var b strings.Builder
	b.WriteString("it is in conflict with what others have done:\n")
	for _, c := range files[:min(len(files), maxNamed)] {
		fmt.Fprintf(&b, "%s: %s\n", plain.Line(c.File, 200), plain.Line(c.Why, 300))
	}
	if l.Touched == nil {
		l.Touched = map[string]int{}
	}
	for _, c := range files[:min(len(files), maxTouched)] {
		l.Touched[c.File]++
	}
	l.Given = strings.TrimSpace(b.String())
}
