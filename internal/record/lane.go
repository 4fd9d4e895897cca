package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// Lane is one of several workers of a run.
type Lane struct {
	Number int `json:"number"` // from 1
	Workspace
	Current *Current `json:"current,omitempty"` // nil: no session runs, and none is to be counted
}

// Workspace is where a feature is worked on: a folder with a git repository, and a branch of its own.
type Workspace struct {
	Dir        string `json:"dir"` // absolute
	Branch     string `json:"branch"`
	Base       string `json:"base"`                 // the commit of the loop's branch from which its work begins
	Feature    string `json:"feature"`              // that it has, or had last; "": the loop as a whole
	Open       bool   `json:"open"`                 // it may have work for Feature that is not merged
	WaitReason string `json:"waitReason,omitempty"` // why its work waits for a person; "": it does not

	Refusal string         `json:"refusal,omitempty"` // why the merger did not take the work, for the next prompt
	Touched map[string]int `json:"touched,omitempty"` // the files in which Feature was in conflict, and how often
}

// AllWorkspaces returns the workspaces of the lanes, and those that no lane has now.
func (r *Run) AllWorkspaces() (all []*Workspace) {
	for i := range r.Lanes {
		all = append(all, &r.Lanes[i].Workspace)
	}
	for i := range r.Workspaces {
		all = append(all, &r.Workspaces[i])
	}
	return all
}

// Merges is what lanes have brought together. The run's branch has it; a person's branch follows when it can.
type Merges struct {
	Into     string            `json:"into"`             // the person's branch, which was checked out when the run began
	Commit   string            `json:"commit"`           // the last commit of the run's branch
	Done     map[string]string `json:"done,omitempty"`   // the features that the run has merged, and the commit of each
	Joined   bool              `json:"joined,omitempty"` // Commit merges a person's commits, and is not proven
	Old      string            `json:"old,omitempty"`    // from where the person's branch began to go to New
	New      string            `json:"new,omitempty"`    //
	Behind   string            `json:"behind,omitempty"` // why the person's branch lacks work; "": it has all
	Away     bool              `json:"away,omitempty"`   // with Behind: since another branch was checked out
	PRCommit string            `json:"told,omitempty"`   // the commit for which the commands of "pr" have ended well
	PR       string            `json:"pr,omitempty"`     // the last address that they printed
	Failed   string            `json:"failed,omitempty"` // which of them failed last, and why; "": none
}

// Branch is a branch of an earlier run with work that nobody had merged when the run began.
type Branch struct {
	Name   string `json:"name"`
	Into   string `json:"into"`             // the person's branch, for which the work is
	Commit string `json:"commit,omitempty"` // its last one if it is that of the run, which is proven; "": it is a lane's
}

// Branches returns the branches with work of the run, and of those before it, which may be merged by now.
func (r *Run) Branches() []Branch {
	all := slices.Clone(r.Unmerged)
	if r.Backup != "" {
		all = append(all, Branch{Name: r.Branch(), Into: r.Merges.Into, Commit: r.Merges.Commit})
	}
	for _, one := range r.AllWorkspaces() {
		if one.Open {
			all = append(all, Branch{Name: one.Branch, Into: r.Merges.Into})
		}
	}
	return all
}

// Branch returns the name of the run's own branch.
func (r *Run) Branch() string { return "ralph/" + r.ID }

// WaitingBranches returns the branches that wait for a person, and where their files are, by feature; for a
// feature on which nobody has worked yet, only that folder.
func (r *Run) WaitingBranches() map[string]string {
	all := map[string]string{}
	for _, one := range r.AllWorkspaces() {
		if one.WaitReason != "" && one.WaitReason != Abandoned {
			all[one.Feature] = one.Dir
			if one.Open {
				all[one.Feature] = fmt.Sprintf("%s (in %s)", one.Branch, one.Dir)
			}
		}
	}
	return all
}

// Abandoned is why work is put aside that belongs to no open feature. If the feature is open again, it goes on.
const Abandoned = "nobody is to work on it any more"

// ToMerge says what a person is to do so that all work of the run is on the branch that it is for. All of it is clean.
func (r *Run) ToMerge() (all []string) {
	if r.Merges.Behind != "" {
		all = append(all, plain.Line(r.Merges.Behind, 500))
	}
	for _, one := range r.AllWorkspaces() {
		if one.WaitReason != "" {
			waits := "waits"
			if one.Open {
				waits += " on the branch " + plain.Line(one.Branch, 150)
			}
			all = append(all, fmt.Sprintf("%s %s: %s", cmp.Or(plain.Line(one.Feature, 80), "other work"), waits,
				plain.Line(one.WaitReason, 300)))
		}
	}
	for _, b := range r.Unmerged {
		all = append(all, say.Unmerged(b.Name, b.Into))
	}
	return all
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
	r.Switches = slices.DeleteFunc(r.Switches, func(s Switch) bool { return s.Session == 0 && s.Feature == c.Feature })
}

const (
	maxNamed   = 50   // files of a merge with conflicts that a prompt names
	maxTouched = 1000 // those that a lane's record keeps
)

// Conflict gives work back that does not fit to what others have done. It is merged into the folder before the next
// session.
func (f *Workspace) Conflict(files []worktree.Conflict) {
	var b strings.Builder
	b.WriteString("it is in conflict with what others have done:\n")
	for _, c := range files[:min(len(files), maxNamed)] {
		fmt.Fprintf(&b, "%s: %s\n", plain.Line(c.File, 200), plain.Line(c.Why, 300))
	}
	if f.Touched == nil {
		f.Touched = map[string]int{}
	}
	for _, c := range files[:min(len(files), maxTouched)] {
		f.Touched[c.File]++
	}
	f.Refusal = strings.TrimSpace(b.String())
}
