package decide

import (
	"testing"
	"time"
)

// eventRows are decisions at the events around a stop, and about who owns the loop.
var eventRows = []row{
	{"prompt-bound, no owner yet", func(s *Snapshot) { s.State.Session, s.State.Bind = "", BindPrompt }, "pass"},
	{"no record, prompt-bound", func(s *Snapshot) { s.State, s.Bind = State{}, BindPrompt }, "pass"},
	{"no record, prompt-bound, but the session's own", func(s *Snapshot) {
		s.State, s.Bind, s.Bound, s.Tree = State{}, BindPrompt, true, "t"
	}, "continue 5 c"},
	{"its prompt", func(s *Snapshot) { s.Event, s.Marked, s.State.Session = EventPrompt, true, "" }, "take"},
	{"its prompt, again", func(s *Snapshot) { s.Event, s.Marked = EventPrompt, true }, "take"},
	{"another prompt", func(s *Snapshot) { s.Event = EventPrompt }, "pass"},
	{"its prompt, elsewhere, owner alive", func(s *Snapshot) {
		s.Event, s.Marked, s.Session, s.OwnerAlive, s.State.Seen = EventPrompt, true, "t", true,
			now.Add(-59*time.Minute)
	}, "tell"},
	{"owner unseen for an hour", func(s *Snapshot) {
		s.Event, s.Marked, s.Session, s.OwnerAlive, s.State.Seen = EventPrompt, true, "t", true, now.Add(-time.Hour)
	}, "take"},
	{"owner unseen for an hour, but its process lives", func(s *Snapshot) {
		s.Event, s.Marked, s.Session, s.OwnerAlive = EventPrompt, true, "t", true
		s.State.Seen, s.State.SessionPID = now.Add(-9*time.Hour), 7
		s.OwnerKnown = true
	}, "tell"},
	{"a prompt of the owner's new process", func(s *Snapshot) {
		s.Event, s.Client, s.State.SessionPID = EventPrompt, 8, 7
	}, "note"},
	{"no record, and the header says it is over, its prompt", func(s *Snapshot) {
		s.Event, s.Marked, s.State, s.Header.Status = EventPrompt, true, State{}, "CANCELLED"
	}, "tell"},
	{"session ended in a second client", func(s *Snapshot) {
		s.Event, s.OwnerAlive, s.Client, s.State.SessionPID = EventEnd, true, 8, 7
	}, "pass"},
	{"a stop from before the session ended", func(s *Snapshot) {
		s.State.Status, s.State.EndedAt = Interrupted, now.Add(time.Second)
	}, "pass"},
	{"owner gone", func(s *Snapshot) {
		s.Event, s.Marked, s.Session, s.State.Seen = EventPrompt, true, "t", now
	}, "take"},
	{"its prompt, paused in the header", func(s *Snapshot) {
		s.Event, s.Marked, s.Header.Status = EventPrompt, true, "PAUSED"
	}, "end PAUSED by_header"},
	{"its prompt, the header claims the end, which nobody believes", func(s *Snapshot) {
		s.Event, s.Marked, s.Header.Status = EventPrompt, true, "COMPLETE"
	}, "take"},
	{"a prompt in the interrupted session, the header claims the end", func(s *Snapshot) {
		s.Event, s.State.Status, s.Header.Status = EventPrompt, Interrupted, "COMPLETE"
	}, "take"},
	{"session ended, the header claims the end", func(s *Snapshot) {
		s.Event, s.Tail, s.Header.Status = EventEnd, &Tail{}, "COMPLETE"
	}, "end INTERRUPTED session_ended"},
	{"its prompt, over", func(s *Snapshot) {
		s.Event, s.Marked, s.State.Status = EventPrompt, true, ReachedLimit
	}, "tell"},
	{"its prompt, interrupted elsewhere", func(s *Snapshot) {
		s.Event, s.Marked, s.Session, s.State.Status = EventPrompt, true, "t", Interrupted
		s.OwnerAlive, s.State.Seen = true, now
	}, "take"},
	{"a prompt in the interrupted session", func(s *Snapshot) {
		s.Event, s.State.Status = EventPrompt, Interrupted
	}, "take"},
	{"a prompt in another session, interrupted", func(s *Snapshot) {
		s.Event, s.Session, s.State.Status = EventPrompt, "t", Interrupted
	}, "pass"},
	{"a stop in the interrupted session", func(s *Snapshot) { s.State.Status = Interrupted }, "continue 5 c"},
	{"an API error: the transcript is asked for", func(s *Snapshot) {
		s.Event, s.Failure = EventFailure, "rate_limit"
	}, "tail"},
	{"rate limit", func(s *Snapshot) {
		s.Event, s.Failure, s.Tail = EventFailure, "rate_limit", &Tail{}
	}, "end INTERRUPTED rate_limit"},
	{"rate limit that says until when", func(s *Snapshot) {
		s.Event, s.Failure, s.Tail = EventFailure, "rate_limit", &Tail{RetryAt: now.Add(time.Hour)}
	}, "end INTERRUPTED rate_limit 04:00"},
	{"rate limit whose transcript says until when", func(s *Snapshot) {
		s.Event, s.Failure, s.Tail = EventFailure, "rate_limit",
			&Tail{Error: "rate_limit", RetryAt: now.Add(2 * time.Hour)}
	}, "end INTERRUPTED rate_limit 05:00"},
	{"API error of a helper", func(s *Snapshot) {
		s.Event, s.Failure, s.IsIgnored, s.Tail = EventFailure, "invalid_request", true, &Tail{}
	}, "end INTERRUPTED api_error"},
	{"API error without a name", func(s *Snapshot) {
		s.Event, s.Tail = EventFailure, &Tail{}
	}, "end INTERRUPTED api_error"},
	{"API error elsewhere", func(s *Snapshot) { s.Event, s.Session = EventFailure, "t" }, "pass"},
	{"session ended: the transcript is asked for", func(s *Snapshot) { s.Event = EventEnd }, "tail"},
	{"session ended", func(s *Snapshot) {
		s.Event, s.Tail = EventEnd, &Tail{}
	}, "end INTERRUPTED session_ended"},
	{"session ended by a rate limit whose event was cut off", func(s *Snapshot) {
		s.Event, s.Tail = EventEnd, &Tail{Error: "rate_limit", RetryAt: now.Add(3 * time.Hour)}
	}, "end INTERRUPTED rate_limit 06:00"},
	{"session ended by an error whose event was cut off", func(s *Snapshot) {
		s.Event, s.Tail = EventEnd, &Tail{Error: "invalid_request"}
	}, "end INTERRUPTED api_error"},
	{"session ended after an API error", func(s *Snapshot) {
		s.Event, s.State.Status = EventEnd, Interrupted
	}, "pass"},
	{"session ended, paused in the header", func(s *Snapshot) {
		s.Event, s.Header.Status = EventEnd, "PAUSED"
	}, "end PAUSED by_header"},
	{"cleared session begins", func(s *Snapshot) {
		s.Event, s.Cleared, s.Session, s.State.Session, s.Client, s.State.SessionPID = EventStart, true, "t", "", 7, 7
	}, "tell"},
	{"another session was cleared", func(s *Snapshot) {
		s.Event, s.Cleared, s.Session, s.State.Session, s.Client, s.State.SessionPID = EventStart, true, "t", "", 8, 7
	}, "pass"},
	{"another session was cleared, processes unknown", func(s *Snapshot) {
		s.Event, s.Cleared, s.State.Session = EventStart, true, ""
	}, "pass"},
	{"the interrupted session is resumed", func(s *Snapshot) {
		s.Event, s.State.Status = EventStart, Interrupted
	}, "tell"},
	{"the session is resumed in a new process", func(s *Snapshot) {
		s.Event, s.Client, s.State.SessionPID = EventStart, 8, 7
	}, "note"},
	{"the session goes on after compaction", func(s *Snapshot) {
		s.Event, s.Client, s.State.SessionPID = EventStart, 7, 7
	}, "pass"},
	{"a fork of the session", func(s *Snapshot) {
		s.Event, s.Session, s.State.Status = EventStart, "t", Interrupted
	}, "pass"},
	{"the session of a loop that is over is resumed", func(s *Snapshot) {
		s.Event, s.State.Status = EventStart, Complete
	}, "pass"},
	{"handed over: a prompt in its session", func(s *Snapshot) {
		s.Event, s.State.Status = EventPrompt, Handover
	}, "pass"},
	{"handed over: its prompt in another session", func(s *Snapshot) {
		s.Event, s.Marked, s.Session, s.State.Status = EventPrompt, true, "t", Handover
		s.OwnerAlive, s.State.Seen = true, now
	}, "take"},
	{"handed over: its prompt in the same session", func(s *Snapshot) {
		s.Event, s.Marked, s.State.Status = EventPrompt, true, Handover
		s.State.ExitReason, s.State.LastSession = SessionFull, "s"
	}, "tell session_full"},
	{"handed over for an hour: its prompt in the same session", func(s *Snapshot) {
		s.Event, s.Marked, s.State.Status = EventPrompt, true, Handover
		s.State.ExitReason, s.State.LastSession = IterationsPerHour, "s"
	}, "take"},
	{"handed over for an hour that is not over", func(s *Snapshot) {
		s.Event, s.Marked, s.Session, s.State.Status, s.Limits.IterationsPerHour = EventPrompt, true, "t", Handover, 1
		s.State.Hour = []int64{now.Add(-59 * time.Minute).Unix()}
	}, "tell iterations_per_hour"},
	{"handed over with no iteration left", func(s *Snapshot) {
		s.Event, s.Marked, s.Session, s.State.Status, s.State.Iteration = EventPrompt, true, "t", Handover, 15
	}, "tell max_iterations"},
	{"interrupted, and its time is up", func(s *Snapshot) {
		s.Event, s.State.Status, s.Limits.Deadline = EventPrompt, Interrupted, time.Hour
		s.State.StartedAt = now.Add(-2 * time.Hour)
	}, "tell deadline"},
	{"interrupted at the last iteration", func(s *Snapshot) {
		s.Event, s.State.Status, s.State.Iteration = EventPrompt, Interrupted, 15
	}, "take"},
	{"the session is resumed in a new process, and the header says PAUSED", func(s *Snapshot) {
		s.Event, s.Client, s.State.SessionPID, s.Header.Status = EventStart, 8, 7, "PAUSED"
	}, "pass"},
	{"handed over: a stop", func(s *Snapshot) { s.State.Status = Handover }, "pass"},
	{"/goal in its session", func(s *Snapshot) { s.Event, s.Goal = EventPrompt, true }, "note rival"},
	{"/goal again", func(s *Snapshot) { s.Event, s.Goal, s.State.OtherHookShown = EventPrompt, true, true }, "pass"},
	{"/goal elsewhere", func(s *Snapshot) { s.Event, s.Goal, s.Session = EventPrompt, true, "t" }, "pass"},
	{"a stop after a block that was not ours", func(s *Snapshot) { s.Active = true }, "continue 5 c rival"},
	{"a stop after a block that was ours", func(s *Snapshot) {
		s.Active, s.State.Blocks = true, blocked(1)
	}, "continue 5 c"},
	{"a stop after a block that was not ours, said before", func(s *Snapshot) {
		s.Active, s.State.OtherHookShown = true, true
	}, "continue 5 c"},
	{"cleared", func(s *Snapshot) { s.Event, s.Cleared = EventEnd, true }, "release"},
}

func TestEvents(t *testing.T) { testRows(t, eventRows) }
