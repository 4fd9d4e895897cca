package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// hookCommand is only for the help: run calls hookMode without it.
func hookCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "hook [flags]",
		Short: "Answer an event; the client calls this",
		Long:  hookHelp,
		RunE:  func(*cobra.Command, []string) error { return nil },
	}
}

const hookHelp = `Answer the client's JSON on standard input with one JSON object or nothing, and exit
with 0.

  --loop-dir DIR      the loop's folder (default: the session's loop, else 'current')
  --client NAME       claude, codex, gemini or qwen (default claude)
  --timeout 660s      the time that the entry allows
  --on-complete CMD   run the shell command CMD when the loop ends`

type hook struct {
	env     loop.Env
	begin   time.Time
	call    client.Call
	event   client.Event
	printed bool
}

// hookMode answers one call of Claude Code. Every bug ends the loop, and none prolongs it. Whatever
// goes wrong, it prints nothing or one object that does not block. It exits with 0, because Claude
// Code takes 2 for a block.
func hookMode(args []string) (status int) {
	h := &hook{begin: time.Now(), call: client.Call{Client: client.Find(client.Usual)}}
	ignoreSignals()
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", p, debug.Stack())
			h.print(client.Answer{Message: say.Trouble(fmt.Errorf("internal error: %v", p))})
		}
	}()
	h.env = boot.Env(program)
	h.env.Catch = catchInHook
	h.call.LoopDir, h.call.OnComplete = h.env.LoopDir, h.env.OnComplete
	wrong := h.call.Parse(args)
	if wrong != nil {
		wrong = fmt.Errorf("the hook's settings entry is wrong: %w; see 'ralph-stop-hook hook --help'", wrong)
	}
	h.env.LoopDir, h.env.OnComplete = h.call.LoopDir, h.call.OnComplete
	h.ofClient()
	if h.byHand() {
		h.env.OnComplete = "" // an agent's command
	}
	event, unread := h.read()
	if err := cmp.Or(wrong, unread); err != nil {
		h.print(client.Answer{Message: say.Trouble(err)})
		return 0
	}
	h.event = event
	h.answer(context.Background())
	return 0
}

// inputWait is how long the host may take to send an event.
var inputWait = 30 * time.Second

// read reads the event. A host that neither sends all of it nor closes its end is told so.
func (h *hook) read() (client.Event, error) {
	late := time.AfterFunc(inputWait, func() {
		h.print(client.Answer{Message: say.Trouble(
			fmt.Errorf("no whole JSON object came on standard input within %v", inputWait))})
		os.Exit(0)
	})
	event, err := client.ReadEvent(os.Stdin, h.call.Client.Words)
	if !late.Stop() {
		select {} // the process ends
	}
	return event, err
}

// ignoreSignals ignores signals that must not end a hook: SIGPIPE, so that an ending is told even
// if the host is gone, and signals at which Go exits with 2. A fault of this process is still a
// panic.
func ignoreSignals() {
	signal.Ignore(append(exitWith2, syscall.SIGPIPE, syscall.SIGQUIT, syscall.SIGABRT)...)
}

// catchInHook is boot.Catch for a process that ignores some signals, which a subprocess would
// inherit. It costs a thread, so it is not done for the whole process.
func catchInHook(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := boot.Catch(ctx)
	return ctx, func() {
		ignoreSignals() // first, because stop gives every other signal its default effect back
		stop()
	}
}

// ofClient tells everything below which client calls.
func (h *hook) ofClient() {
	h.env.ProjectDir = h.call.Client.Project(h.env.Get)
	if h.call.Client.Name == client.Usual {
		return
	}
	h.env.Agent, h.env.Client = h.call.Client.Name, h.call.Client.Name
	isVar, isSecret := h.env.OfHost, h.env.IsSecret
	h.env.OfHost = func(name string) bool { return isVar(name) || h.call.Client.IsVar(name) }
	h.env.IsSecret = func(name string) bool { return isSecret(name) || h.call.Client.IsSecret(name) }
}

// byHand reports whether an agent called this hook, by a command of its own or in a check. Clients tell their hooks the
// project, and not their agents' commands. Codex tells nobody.
func (h *hook) byHand() bool {
	return client.ByAgent(h.env.Get) && h.env.ProjectDir == "" || h.env.Get(loop.CheckVar) != ""
}

func (h *hook) print(a client.Answer) {
	if text := a.Encode(); text != nil && !h.printed {
		h.printed = true
		_, _ = os.Stdout.Write(text) // a host that no longer listens cannot be told
	}
}

// answer finds the event's loop, takes the step, prints and tells the notifiers.
func (h *hook) answer(ctx context.Context) {
	ev := h.neutral()
	h.env.Everywhere = func() bool { return h.install().Everywhere() }
	l, err := loop.Find(h.env, ev)
	if l != nil {
		defer l.Close()
	}
	switch {
	case l == nil && err == nil:
		return
	case h.env.Get(client.PluginRoot) != "" && h.install().InSettings(h.event.Name):
		return // the plugin's hook leaves the answer to that of the settings
	case err != nil:
		h.giveUp(ctx, l, ev, err)
		return
	}
	l.SendPending()
	if l.Bystander() {
		h.tellOfLoop(l, ev)
		l.Tidy(ctx, ev)
		return
	}
	h.step(ctx, l, ev)
}

// tellOfLoop tells a session once of a loop that no stop begins, or that was paused.
func (h *hook) tellOfLoop(l *loop.Loop, ev loop.Event) {
	paused := l.Paused(ev)
	if !paused && !l.Waits(ev) {
		return
	}
	if paused {
		if l.TellPause(ev.Session) {
			h.print(client.Answer{Message: say.Paused(l)})
		}
		return
	}
	if why := l.WaitsFor(ev.Session); why != "" {
		h.print(client.Answer{Message: say.Waits(l, why)})
	}
}

// testOnlyStep lets a test put a bug into a step.
var testOnlyStep = (*loop.Loop).Step

func (h *hook) step(ctx context.Context, l *loop.Loop, ev loop.Event) {
	noted := ev.Event == decide.EventStop
	if noted {
		l.BeginStop(ev.At)
	}
	endNote := func() {
		if noted {
			l.Store.EndStop()
		}
		noted = false
	}
	defer endNote() // after a bug
	why, fix := "", ""
	s, err := testOnlyStep(l, ctx, ev)
	switch {
	case err != nil:
		h.giveUp(ctx, l, ev, err)
	case !ev.Dying:
		answer := h.encode(s)
		if h.call.ByEntry {
			why, fix = h.unheard(s)
		}
		if why != "" {
			later := strings.Replace(why, "no stop", "no later stop", 1)
			answer.Message = strings.TrimPrefix(answer.Message+" · "+later+"; next step: "+fix, " · ")
		}
		h.print(answer)
	}
	noted = noted && (err != nil || !s.Cut)
	endNote()
	if err != nil {
		return
	}
	d := &s.Decision
	if why != "" {
		l.Warn(ctx, ev, why, fix)
	}
	if d.Commits() {
		l.Notify(ctx, ev, s)
	} else if d.Binding == "" {
		l.Tidy(ctx, ev)
	}
}

// unheard says that the client leaves settings out, or has no entry for this hook any more, while the loop goes on: it
// may not call again.
func (h *hook) unheard(s *loop.Step) (why, fix string) {
	if h.call.Client.Name != client.Usual || h.byHand() || s.Decision.Next.Status != decide.InProgress {
		return "", ""
	}
	in, env := h.install(), h.env
	why, fix = in.Ignored(in.Settings(in.Scopes...)...)
	if !assumeEntry && !in.Hooked() {
		env.HookProblem = boot.HookProblem(env)
		why, fix = say.HookProblem(env, s.Picture.Loop.At)
	}
	return why, fix
}

// encode turns the words for a step into Claude Code's answer.
func (h *hook) encode(s *loop.Step) client.Answer {
	a := say.DecisionAnswer(s.Picture, s.Decision)
	answer := client.Answer{Prompt: a.Prompt, Message: a.Message, Context: a.Context, End: a.End}
	if !h.call.Client.Known {
		return answer // it was driven with blocks alone
	}
	// Context costs half of what the reason of a block costs. Claude Code reads it if its event has a prompt id.
	answer.AsContext = a.Prompt != "" && h.event.PromptID != ""
	return answer
}

// giveUp answers if the loop cannot continue and the record cannot say so: the turn may end, the
// person is told, and the notifiers once.
func (h *hook) giveUp(ctx context.Context, l *loop.Loop, ev loop.Event, err error) {
	var notify func()
	if l != nil {
		notify = l.GiveUp(ctx, ev, err)
	}
	h.print(client.Answer{Message: say.Trouble(err)})
	if notify != nil {
		notify()
	}
}

// install returns where the client reads the settings of this session.
func (h *hook) install() client.Install {
	project := cmp.Or(h.env.ProjectDir, h.event.Cwd, h.env.Cwd)
	return client.Install{Client: h.call.Client, Get: h.env.Get, Home: h.env.Home, Project: project}
}

// rivals reports whether another Stop hook may keep the session going, too.
func (h *hook) rivals() bool {
	in := h.install()
	isThere := func(plugin string) bool { return in.Plugin(plugin) != "" }
	return in.OthersStop() || slices.ContainsFunc(blockingPlugins, isThere)
}

// neutral returns the event in words that are not Claude Code's.
func (h *hook) neutral() loop.Event {
	e := h.event
	ev := loop.Event{
		Report: decide.Report{
			Event: e.Kind(), Session: e.SessionID, Client: h.call.Client.PID(h.env.Get), Cwd: e.Cwd, Message: e.LastMessage,
			IsIgnored: e.IsIgnored(), Active: e.StopHookActive, Goal: e.Goal(), Cleared: e.Cleared(), Failure: e.Error,
		},
		Name: e.Name, Prompt: e.Prompt, Dying: e.Dying(),
		Background: e.Background, At: h.begin, Timeout: h.call.Timeout,
	}
	if decide.IsRun(ev.Session) { // a run takes its steps itself
		ev.IsIgnored = true
	}
	if h.byHand() {
		ev.Caller = cmp.Or(h.env.Get(client.SessionID), client.Caller(h.env.Get))
		ev.IsIgnored = ev.IsIgnored || ev.Event != decide.EventStop
	}
	if h.call.Client.Known {
		ev.BlockCap = client.BlockCap(h.env.Get(client.BlockCapVar))
		ev.Rivals = h.rivals
		ev.Transcript = e.Transcript
		ev.Tail = func(now time.Time) decide.Tail { return client.ReadTail(e.Transcript, e.LastMessage, now) }
	}
	return ev
}
