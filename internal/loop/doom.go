package loop

import "github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"

// Doomed returns the ending that the loop comes to whatever the agent does, and true, if it goes
// on and a person has to mend something first. The list or ralph.json cannot be worked, which
// the next stop finds; or a held file has changed, which is found when a check is due.
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
