package loop

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proof"
)

const (
	checkTail   = 4000      // characters of a failed check's output, in the prompt
	checkOutput = 512 << 10 // bytes of it, in checks.log
	checkFile   = 16 << 20  // bytes of a file that a condition looks at
	cancelLook  = 200 * time.Millisecond
)

// checker runs the checks, evaluators and tracker's commands that a decision needs.
type checker struct {
	*Picture
	message        string                            // the agent's last one
	status         string                            // the exit status of its session; "": not known
	deadline       time.Time                         // for all of them
	contents       string                            // hash of the work tree as they find it
	projectPicture *Picture                          // the loop over the project, if the checks run in the copy
	asItIs         bool                              // they run in the project, although some of its changes do not count
	isDry          bool                              // they only show what will be; see DryRun
	filled         proof.Filled                      // what the copy had then
	isFresh        bool                              // no check has run in the copy since
	source         []byte                            // what the tracker printed, to be stored
	refused        error                             // why no check runs in the copy
	noCopy         error                             // a CopyError, if that is why
	prepareOutput  []byte                            // what a command printed that prepares the copy, and failed
	hear           func(decide.Run, *decide.Receipt) // called when a check begins (nil), and with its result
	byDigest       map[string]config.Check
}

// RunChecks runs checks for a verb. It calls hear when a check begins, with nil, and with its
// result. It stores the receipts if keep is set. No check passes if the record was changed meanwhile.
func (p *Picture) RunChecks(ctx context.Context, runs []decide.Run, keep bool,
	hear func(decide.Run, *decide.Receipt)) (results []decide.Receipt, err error) {
	ctx, stop := p.Loop.Env.Catch(ctx)
	defer stop()
	r := checker{Picture: p, deadline: time.Now().Add(maxSend), contents: p.Contents(ctx), hear: hear}
	run := func() { results = r.run(ctx, runs) }
	session := p.Snapshot.State.Session
	if p.Loop.work != "" { // of a run, whose other lanes take steps meanwhile
		changed, err := p.Loop.Store.Share(maxSend, session, run)
		p.Loop.discount(results, changed)
		return results, err
	}
	err = p.Loop.Store.Locked(LockWait, func() error {
		changed, err := p.Loop.keeping(session, run)
		if err != nil {
			return err
		}
		p.Loop.discount(results, changed)
		if !keep {
			return nil
		}
		return p.Loop.keepReceipts(results)
	})
	if p.Loop.eventsQueued() {
		_, _ = p.Loop.sendApart() // that of the event may have given up
	}
	return results, err
}

// withDeadline returns a context that ends when the time is up, or when a person cancels the loop.
func (r *checker) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithDeadline(ctx, r.deadline)
	over := make(chan struct{})
	store := r.Loop.Store // r.Loop changes when the copy is entered
	go func() {
		defer func() {
			_ = recover()
			close(over)
		}()
		for ctx.Err() == nil {
			if store.HasRequest(loopdir.RequestCancel) {
				cancel()
			}
			select {
			case <-ctx.Done():
			case <-time.After(cancelLook):
			}
		}
	}()
	return ctx, func() {
		cancel()
		<-over // it looks into the state folder, which may be opened anew
	}
}

// run runs checks side by side, as many as ralph.json or the run allows.
func (r *checker) run(ctx context.Context, runs []decide.Run) []decide.Receipt {
	ctx, cancel := r.withDeadline(ctx)
	defer cancel()
	if r.hear == nil {
		r.hear = func(decide.Run, *decide.Receipt) {}
	}
	r.byDigest = make(map[string]config.Check, len(r.Config.Checks))
	for _, c := range r.Config.Checks {
		r.byDigest[c.Digest] = c
	}
	results := make([]decide.Receipt, len(runs))
	groups := r.groups(runs)
	next := make(chan []int)
	atOnce := cmp.Or(r.Config.Parallel, r.Loop.Env.ChecksAtOnce, 1)
	slots := make([]*checker, min(atOnce, len(groups)))
	enters := !r.asItIs && slices.ContainsFunc(runs, r.runsInCopy)
	if enters {
		r.refused = r.lookOnce(ctx)
	}
	for i := range slots {
		slots[i] = r.slot(i)
	}
	for _, slot := range slots { // before the first check runs, which could write into the others' copies
		if enters && slot.refused == nil {
			slot.refused = slot.enter(ctx)
			slot.isFresh = true
		}
	}
	var all sync.WaitGroup
	for _, slot := range slots {
		all.Go(func() {
			for same := range next {
				slot.answer(ctx, runs, same, results)
			}
		})
	}
	for _, same := range groups {
		next <- same
	}
	close(next)
	all.Wait()
	for _, slot := range slots {
		r.noCopy = cmp.Or(r.noCopy, slot.noCopy)
	}
	return results
}

// slot returns the checker for those of the checks that run side by side. Each has a copy of its own.
func (r *checker) slot(i int) *checker {
	if i == 0 {
		return r
	}
	picture, l := *r.Picture, *r.Loop
	l.slot = strconv.Itoa(i + 1)
	picture.Loop = &l
	other := r.withPicture(&picture)
	other.refused = r.refused
	return other
}

// withPicture returns the checker for the same checks of another picture. That one has not entered the copy.
func (r *checker) withPicture(p *Picture) *checker {
	return &checker{
		Picture: p, message: r.message, status: r.status, deadline: r.deadline, contents: r.contents,
		asItIs: r.asItIs, isDry: r.isDry, hear: r.hear, byDigest: r.byDigest,
	}
}

// answer runs the first check of a group, which answers for all.
func (r *checker) answer(ctx context.Context, runs []decide.Run, same []int, results []decide.Receipt) {
	one := r.first(ctx, runs[same[0]])
	for _, i := range same {
		results[i] = one
		results[i].Feature = runs[i].Feature
		results[i].Check = runs[i].Check.Digest
		results[i].Name = runs[i].Check.Name
		r.hear(runs[i], &results[i])
	}
}

// runInProject runs those checks that have passed in the copy once more, in the project as it is.
func (r *checker) runInProject(ctx context.Context, runs []decide.Run) []decide.Receipt {
	r.asItIs = true
	inCopy := map[string]bool{} // by digest
	for _, c := range r.Config.Checks {
		inCopy[c.Digest] = c.In != config.InProject && !c.LastMessage
	}
	runs = slices.DeleteFunc(runs, func(run decide.Run) bool { return !inCopy[run.Check.Digest] })
	return append([]decide.Receipt{}, r.run(ctx, runs)...)
}

// runsInCopy reports whether a run is of a check that looks at the copy.
func (r *checker) runsInCopy(run decide.Run) bool {
	c, is := r.byDigest[run.Check.Digest]
	return is && c.In != config.InProject && !c.LastMessage && !c.Untrusted
}

// first runs the first check of a group. A panic is a check that did not run.
func (r *checker) first(ctx context.Context, run decide.Run) (result decide.Receipt) {
	result = decide.Receipt{At: time.Now().UTC(), Tree: r.contents, NotRun: true}
	defer func() {
		if p := recover(); p != nil {
			result.Tail = fmt.Sprintf("internal error: %v", p)
		}
	}()
	r.hear(run, nil)
	if !r.asItIs && r.runsInCopy(run) && r.refused == nil {
		if !r.isFresh {
			r.refused = r.tidyCopy(ctx)
		}
		r.isFresh = false
	}
	r.one(ctx, run, &result)
	return result
}

// groups returns the indexes of runs. Runs are in one group if one command answers for all of
// them: features of a list often bring the same command.
func (r *checker) groups(runs []decide.Run) (groups [][]int) {
	byName := map[string]int{} // of checks that features bring
	for i, run := range runs {
		c := r.byDigest[run.Check.Digest]
		if at, is := byName[c.Name]; is && c.FromList {
			groups[at] = append(groups[at], i)
			continue
		}
		if c.FromList {
			byName[c.Name] = len(groups)
		}
		groups = append(groups, []int{i})
	}
	return groups
}

func (r *checker) one(ctx context.Context, run decide.Run, result *decide.Receipt) {
	begin := time.Now()
	output, err := []byte(nil), error(errNotRun("ralph.json has no such check any more"))
	c, is := r.byDigest[run.Check.Digest]
	if is {
		output, err = r.holds(ctx, c, run.Feature)
	}
	result.Passed = err == nil
	result.NotRun = errors.As(err, new(errNotRun))
	result.Cut = errors.Is(err, errCut)
	result.DurationMS = time.Since(begin).Milliseconds()
	ran := Ran{Check: run.Check.Name, Command: c.Command.String(), Feature: run.Feature, Outcome: "ok"}
	if err != nil {
		ran.Outcome = err.Error()
		ran.ExitStatus = -1
		result.Tail = tail(output, ran.Outcome+r.hint(c, output))
	}
	exit := (*exec.ExitError)(nil)
	if errors.As(err, &exit) {
		ran.ExitStatus = exit.ExitCode()
	}
	if !r.isDry {
		r.Loop.logRan(begin, ran, output)
	}
}

// tail returns the end of what a command printed, and what became of it.
func tail(output []byte, outcome string) string {
	shown := strings.TrimSpace(plain.Text(string(output), len(output)))
	text := []rune(strings.TrimSpace(shown + "\n" + outcome))
	return string(text[max(0, len(text)-checkTail):])
}

// errNotRun means that a check did not run, so its result says nothing about the work.
type errNotRun string

func (e errNotRun) Error() string { return "not run: " + string(e) }

// errCut is the errNotRun of a check for which the time of the stop was too short.
const errCut = errNotRun("the time that a stop has for its checks was over")

const noTrust = "nobody has trusted this command; a person has to run: "

// holds returns nil if a check holds, and the reason if it does not.
func (r *checker) holds(ctx context.Context, c config.Check, feature string) (output []byte, err error) {
	switch {
	case c.Untrusted:
		return nil, errNotRun(noTrust + r.Loop.Call("trust"))
	case ctx.Err() != nil:
		return nil, notToItsEnd(ctx)
	case c.In == config.InProject && r.projectPicture != nil:
		return r.inProject().holds(ctx, c, feature)
	case r.refused != nil && !c.LastMessage:
		return r.prepareOutput, r.refused
	case c.Runs():
		return r.runs(ctx, c, feature)
	case c.FileExists != "":
		err = r.exists(c)
	case !c.LastMessage:
		err = r.contains(c)
	case !c.Pattern.MatchString(r.message):
		err = fmt.Errorf("the last message does not match %q", c.Expression())
	}
	if of := (*fs.PathError)(nil); errors.As(err, &of) { // without the name of the system's call
		err = fmt.Errorf("%s: %w", of.Path, of.Err)
	}
	return nil, err
}

// runs runs a check that is a command.
func (r *checker) runs(ctx context.Context, c config.Check, feature string) (output []byte, err error) {
	if c.PerClaim && !c.FromList {
		if err := config.CheckID(feature); err != nil {
			return nil, errNotRun(err.Error())
		}
		if !r.Snapshot.Holds(feature) {
			return nil, errNotRun("nobody has trusted this feature, which was added to the list")
		}
	}
	env := append(r.checkEnv(), "RALPH_ITERATION="+strconv.Itoa(r.Snapshot.Record().Iteration),
		"RALPH_EXIT_CODE="+r.status)
	if !c.FromList {
		env = append(env, "RALPH_FEATURE="+feature)
	}
	got := r.command(ctx, c.Command, proc.Cmd{Env: env, Output: checkOutput})
	if got.Err == nil && r.projectPicture != nil {
		return got.Output, r.changeError()
	}
	if got.Err == nil {
		return got.Output, nil
	}
	project := cmp.Or(r.projectPicture, r.Picture) // the PATH of the copy has no such folder any more
	left := project.Loop.PathInside(project.Config.SearchPath)
	if left != "" {
		got.Output = append(got.Output, "\n("+left+")\n"...)
	}
	return got.Output, got.Err
}

// inProject returns the checker for the project as it is.
func (r *checker) inProject() *checker { return r.withPicture(r.projectPicture) }

// folderOf returns the folder in which a condition looks at a file: the project if git ignores the file there.
func (r *checker) folderOf(file string) string {
	if r.projectPicture != nil && r.Loop.look.IsIgnored(path.Join(r.base(), file)) {
		return r.projectPicture.Loop.project()
	}
	return r.Loop.project()
}

func (r *checker) exists(c config.Check) error {
	root, err := os.OpenRoot(r.folderOf(c.FileExists))
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = root.Stat(filepath.FromSlash(c.FileExists))
	return err
}

func (r *checker) contains(c config.Check) error {
	text, err := loopdir.ReadFile(r.folderOf(c.File), filepath.FromSlash(c.File), checkFile)
	switch {
	case err != nil:
	case c.Lacks && c.Pattern.Match(text):
		err = fmt.Errorf("%s matches %q", c.File, c.Expression())
	case !c.Lacks && !c.Pattern.Match(text):
		err = fmt.Errorf("%s does not match %q", c.File, c.Expression())
	}
	return err
}

// notToItsEnd says why a command did not come to its end: a person cancelled the loop, or the time is up.
func notToItsEnd(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return errNotRun("it was stopped")
	}
	return errCut
}

// command runs a command in the project, under a guard, for as long as there is time. If the guard
// could not be started, or the command was stopped for another reason than its own timeout, the
// result's error is an errNotRun, because that says nothing about the work.
func (r *checker) command(ctx context.Context, c config.Command, run proc.Cmd) proc.Result {
	if r.Loop.Env.Self == "" {
		return proc.Result{Err: errNotRun("the system does not tell this program's path"), ExitCode: -1, NotRun: true}
	}
	run.Argv = c.Argv
	run.Shell = c.Shell
	run.Dir = cmp.Or(run.Dir, r.Loop.project())
	run.Guard = r.Loop.Env.Self
	run.Timeout = c.Timeout
	ctx, cancel := context.WithDeadline(ctx, r.deadline)
	defer cancel()
	// The session's TMPDIR may be another one than a person trusted, such as a folder of the project.
	temp, err := os.MkdirTemp(cmp.Or(proc.Value(run.Env, "TMPDIR"), proc.TempDir), "ralph-stop-hook-")
	if err == nil {
		defer func() { _ = os.RemoveAll(temp) }()
	}
	if r.Config.Confine {
		if err == nil {
			err = r.confine(&run, temp)
		}
		if err != nil {
			return proc.Result{Err: errNotRun(err.Error()), ExitCode: -1, NotRun: true}
		}
	}
	output := filepath.Join(temp, "last-answer")
	if err != nil || r.message == "" || os.WriteFile(output, []byte(r.message), 0o600) != nil {
		output = ""
	}
	run.Env = append(run.Env, "RALPH_OUTPUT="+output)
	// Python looks for compiled files there: those in the project may not be what their sources
	// say. Without a folder it finds none, and writes none.
	run.Env = append(run.Env, "PYTHONPYCACHEPREFIX="+cmp.Or(temp, os.DevNull))
	forget := func() error { return nil }
	if r.HasCopy() {
		forget = r.place().Watch()
	}
	got := proc.Run(ctx, run)
	err = forget()
	switch {
	case err != nil:
		got.Err = errNotRun("what it wrote into the loop's own folder cannot be undone: " + err.Error())
	case got.NotRun:
		got.Err = errNotRun(got.Err.Error())
	case got.Err != nil && !got.TimedOut && ctx.Err() != nil:
		got.Err = notToItsEnd(ctx)
	}
	return got
}

// RunLine runs a line for the shell that a person has typed, as checks are run. It returns what the line printed. A
// CopyError says nothing of the work.
func (p *Picture) RunLine(ctx context.Context, line string) ([]byte, error) {
	r := &checker{Picture: p, deadline: time.Now().Add(config.DefaultCheckTimeout)}
	if err := r.enter(ctx); err != nil {
		return r.prepareOutput, cmp.Or(r.noCopy, err)
	}
	c := config.Command{Shell: line, Timeout: config.DefaultCheckTimeout}
	got := r.command(ctx, c, proc.Cmd{Env: r.checkEnv(), Output: checkOutput})
	return got.Output, got.Err
}

// output runs a command for what it prints, at most limit bytes of it.
func (r *checker) output(ctx context.Context, c config.Command, stdin []byte, limit int) ([]byte, error) {
	if c.Untrusted {
		return nil, errNotRun(noTrust + r.Loop.Call("trust"))
	}
	out := &proc.Head{Limit: limit}
	got := r.command(ctx, c, proc.Cmd{Env: r.checkEnv(), Stdin: stdin, Stdout: out, Output: maxReason})
	if got.Err != nil {
		if said := plain.Line(string(got.Output), maxReason); said != "" {
			got.Err = fmt.Errorf("%w: %s", got.Err, said)
		}
		return nil, got.Err
	}
	if len(out.Bytes()) >= limit {
		return nil, fmt.Errorf("it printed more than %d KB", limit>>10)
	}
	return out.Bytes(), nil
}

// confine has a command run confined, with temp as its temporary folder.
func (p *Picture) confine(run *proc.Cmd, temp string) error {
	real, err := filepath.EvalSymlinks(temp)
	if err != nil {
		return err
	}
	folders, _ := json.Marshal(slices.Concat([]string{p.confinedTo(), real}, p.Config.Folders)) // cannot fail
	run.Argv = slices.Concat([]string{proc.ConfineJob.Argv0(p.Loop.Env.Self), string(folders), run.Shell}, run.Argv)
	run.Shell, run.Env = "", append(run.Env, "TMPDIR="+real)
	return nil
}

// hint says what to do if a check may have failed because it is confined.
func (p *Picture) hint(c config.Check, output []byte) string {
	refused := func(word string) bool { return bytes.Contains(bytes.ToLower(output), []byte(word)) }
	if !p.Config.Confine || !c.Runs() || !slices.ContainsFunc(refusals, refused) {
		return ""
	}
	where := "project"
	if p.HasCopy() && c.In != config.InProject {
		where = "copy"
	}
	return "\nThis check is confined: it writes only to the " + where + ", to $TMPDIR, and to the folders that a person " +
		`names as "writable" in ralph.json; it has no Unix sockets, and it changes no modes and owners elsewhere.`
}

var refusals = []string{"permission denied", "eacces", "eperm", "operation not permitted", "permissionerror"}
