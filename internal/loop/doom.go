package loop

import "github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"

// Doomed returns the ending that the loop reaches whatever the agent does. It returns true if the
// loop is not over and a person must fix something first: the list or ralph.json cannot be used,
// which the next stop finds, or a held file has changed, which the next check finds.
func (p *Picture) Doomed() (decide.Decision, bool) {
	s := p.Snapshot
	if state := s.Record(); !state.Status.GoesOn() {
		return decide.Decision{}, false
	}
	s.State.Status = decide.InProgress
	s.Tampered = p.Changed()
	d, need := decide.Preview(s)
	ends := need.Kind == decide.NeedNothing && d.Verdict == decide.End
	return d, ends && (d.Next.Status == decide.Blocked || d.Next.Status == decide.Failed)
}
