package page

import (
	"net/http"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// action returns the loop of a request with the action that is asked for, or answers why it cannot be done.
func (s *Server) action(w http.ResponseWriter, r *http.Request) *detail {
	if !s.Control {
		refuse(w, r, http.StatusForbidden, "this server shows loops and changes none; start it with --control")
		return nil
	}
	d := s.open(w, r)
	if d == nil {
		return nil
	}
	i := slices.IndexFunc(d.Actions, func(a watch.Action) bool { return a.Name == r.PathValue("action") })
	if i < 0 {
		refuse(w, r, http.StatusConflict, "that cannot be done with the loop as it is now")
		return nil
	}
	d.Action = d.Actions[i]
	d.Where = d.Action.Label()
	return d
}

// ask shows the question before an action.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) {
	if d := s.action(w, r); d != nil {
		s.show(w, r, "ask", http.StatusOK, d)
	}
}

// do does what a person has confirmed.
func (s *Server) do(w http.ResponseWriter, r *http.Request) {
	d := s.action(w, r)
	if d == nil {
		return
	}
	if d.Action.Name == "note" {
		d.Action.More = []string{r.PostFormValue("text")}
	}
	said, err := watch.Do(s.Env, d.Loop.Loop, d.Action)
	after := s.open(w, r)
	if after == nil {
		return
	}
	after.Said = said
	status := http.StatusOK
	if err != nil {
		after.Failure, status = plain.Line(err.Error(), 1000), http.StatusConflict
	}
	s.show(w, r, "done", status, after)
}
