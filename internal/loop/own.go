package loop

import (
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// OwnFiles returns the files and folders below the project that are the loops' own: what an agent writes there is in no
// commit of a run.
func (p *Picture) OwnFiles() []string {
	all := []string{loopdir.Below, loopdir.RunFolder}
	if dir := p.inProject(p.Loop.At.Dir); dir != "" {
		all = append(all, dir)
	}
	return all
}

// ListFile returns the path of the list's file below the project, "" if it is elsewhere.
func (p *Picture) ListFile() string {
	list, _ := features.Named(p.ListPath())
	return p.inProject(list)
}

// inProject returns a path as one below the project, with slashes; "": it is elsewhere.
func (p *Picture) inProject(path string) string {
	name, err := filepath.Rel(p.Loop.At.Project, path)
	if err != nil || !filepath.IsLocal(name) || name == "." {
		return ""
	}
	return filepath.ToSlash(name)
}
