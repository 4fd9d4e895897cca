package loop

import (
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// LoopFiles returns the files and folders of the loops below the project. What an agent writes there is in no commit of
// a run.
func (p *Picture) LoopFiles() []string {
	all := []string{loopdir.Below, loopdir.RunFolder}
	if dir := p.inProject(p.Loop.At.Dir); dir != "" {
		all = append(all, dir)
	}
	return all
}

// ListFile returns the path of the list's file below the project, "" if it is elsewhere.
func (p *Picture) ListFile() string {
	list, _ := features.SplitTag(p.ListPath())
	return p.inProject(list)
}

// Lacks reports whether a branch of the project lacks work that the commit of a name has. What the list says is no
// work.
func (p *Picture) Lacks(branch, name string) bool {
	project := p.Loop.At.Project
	return tree.Lacks(proc.EnvOutside(p.Loop.Env.Vars, project), project, branch, name, p.ListFile())
}

// inProject returns a path as one below the project, with slashes; "": it is elsewhere.
func (p *Picture) inProject(path string) string {
	name, err := filepath.Rel(p.Loop.At.Project, path)
	if err != nil || !filepath.IsLocal(name) || name == "." {
		return ""
	}
	return filepath.ToSlash(name)
}
