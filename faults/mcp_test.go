//go:build faults && linux

package faults

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// talk is a conversation of an agent with the server over a loop whose list claims everything: it begins, registers a
// hook, keeps a checkpoint, and claims that all is done.
var talk = []struct{ tool, arguments string }{
	{"iteration_start", `{}`},
	{"hook_register", `{"hookType": "validation", "hookId": "mine"}`},
	{"checkpoint_create", `{"executionPhase": "halfway"}`},
	{"iteration_validate", `{"agentOutput": "I work."}`},
	{"iteration_complete", `{"completionPromise": "COMPLETE"}`},
}

// mcpTrial is a world in which the server is tried again and again.
type mcpTrial struct {
	*world
	ready picture
}

func newMCPTrial(w *world) (*mcpTrial, error) {
	t := &mcpTrial{world: w}
	claimed := func(w *world) error {
		path := filepath.Join(w.project, w.list)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "false", "true")), 0o644)
	}
	err := do([]step{runLoop([]string{"work"}, ""), claimed})(w)
	if err == nil {
		t.ready, err = w.take()
	}
	if err != nil {
		return nil, err
	}
	said, err := t.talks()
	if err == nil && len(said) != len(talk) {
		err = fmt.Errorf("it answers %q", said)
	}
	if err == nil {
		err = t.survived(said)
	}
	return t, err
}

// talks has the conversation with a server, and returns what it answered without an error, by tool. wrap runs the
// program: strace and its arguments, say.
func (t *mcpTrial) talks(wrap ...string) (said map[string]string, err error) {
	argv := append(slices.Clone(wrap), t.path, "mcp")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = t.project, t.env
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	hung := make(chan struct{})
	late := time.AfterFunc(patience, func() {
		close(hung)
		_ = t.quell()
	})
	said = ask(in, bufio.NewReader(out))
	_ = in.Close()                   // of a server that may be gone
	_, _ = io.Copy(io.Discard, out)  // what it still says
	_ = cmd.Wait()                   // it may have been killed
	if late.Stop(); isClosed(hung) { // a server that neither answers nor ends
		return said, errors.New("it hangs")
	}
	return said, nil
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// ask sends one message after the other, as long as there is an answer.
func ask(in io.Writer, out *bufio.Reader) map[string]string {
	said := map[string]string{}
	exchange := func(id int, method, params string) (string, bool) {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		if _, err := io.WriteString(in, line); err != nil {
			return "", false
		}
		for {
			answer, err := out.ReadString('\n')
			if err != nil || gjson.Get(answer, "id").Int() == int64(id) {
				return answer, err == nil
			}
		}
	}
	const hello = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`
	if _, on := exchange(1, "initialize", hello); !on {
		return said
	}
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n") // the next write fails too
	for i, c := range talk {
		answer, on := exchange(i+2, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.tool, c.arguments))
		if !on {
			return said
		}
		text := gjson.Get(answer, "result.content.0.text")
		if text.Exists() && !gjson.Get(answer, "result.isError").Bool() {
			said[c.tool] = text.Str
		}
	}
	return said
}

// survived looks at what a server has left that said this: what it has acknowledged is there, and a next server takes
// the loop to COMPLETE, of which everybody is told once.
func (t *mcpTrial) survived(said map[string]string) error {
	if err := t.settle(); err != nil {
		return err
	}
	if text := said["iteration_complete"]; gjson.Get(text, "accepted").Bool() {
		state, err := t.record()
		if err == nil && state.Status != "COMPLETE" {
			err = fmt.Errorf("it has accepted the claim, and the record is %s", state.Status)
		}
		if err != nil {
			return err
		}
	}
	kept, err := t.kept("agent.json", said["hook_register"] != "", "hooks.0.id", "mine")
	if err == nil {
		_, err = t.kept("checkpoints.json", said["checkpoint_create"] != "", "all.0.phase", "halfway")
	}
	if err != nil {
		return err
	}
	again, err := t.talks()
	if settled := t.settle(); err == nil {
		err = settled
	}
	if err == nil && !gjson.Get(again["iteration_complete"], "accepted").Bool() {
		err = fmt.Errorf("the next server does not accept the claim: %q; the hooks are %s", again, kept)
	}
	return errors.Join(err, t.ended())
}

// kept reads a file of the agent's, which must be JSON, and must have a value that was acknowledged.
func (t *mcpTrial) kept(name string, acknowledged bool, path, want string) (text string, err error) {
	for _, dir := range t.recordDirs() {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && !json.Valid(data) {
			return "", fmt.Errorf("%s is torn: %.200q", name, data)
		}
		text += string(data)
	}
	if acknowledged && gjson.Get(text, path).Str != want {
		return text, fmt.Errorf("%s was acknowledged and is lost: %.200q", want, text)
	}
	return text, nil
}

// ended checks the ending: the record, the header and the notices agree.
func (t *mcpTrial) ended() error {
	state, torn := t.record()
	header, unread := os.ReadFile(filepath.Join(t.project, filepath.FromSlash(loopFolder), "progress.txt"))
	all, untold := t.told()
	if err := errors.Join(torn, unread, untold); err != nil {
		return err
	}
	// The first client may have gone in the middle: then the loop was interrupted, and that was told, too.
	gone := map[string]bool{} // what could not be marked as told comes again, with its delivery's id
	all = slices.DeleteFunc(all, func(one told) bool {
		ofClient := one.ExitReason == "session_ended"
		if ofClient {
			gone[one.DeliveryID] = true
		}
		return ofClient
	})
	switch {
	case state.Status != "COMPLETE" || state.Endings > 2 || len(gone) > 1:
		return fmt.Errorf("the record is %s after %d endings", state.Status, state.Endings)
	case !strings.HasPrefix(string(header), "Status: COMPLETE\n"):
		return fmt.Errorf("progress.txt begins with %.40q", header)
	case len(all) == 0:
		log, _ := os.ReadFile(filepath.Join(t.project, filepath.FromSlash(loopFolder), "hook.log"))
		if !strings.Contains(string(log), "write |1: no space left on device") { // the fault hit the notifier's input
			return fmt.Errorf("nobody was told of the ending; hook.log: %s", log)
		}
	}
	for _, one := range all {
		if one.DeliveryID != all[0].DeliveryID || one.Status != all[0].Status {
			return fmt.Errorf("the ending was told as %v and as %v", all[0], one)
		}
	}
	return nil
}

// each makes a fault at calls of each name, in every way: at most so many of a name and a way. strace counts the calls
// of each thread, and Go chooses the threads, so one fault is made in each thread that comes so far.
func (t *mcpTrial) each(h *harness, most int, ways func(c call) []string) error {
	made, err := t.made()
	if err != nil {
		return err
	}
	for _, c := range fileCalls {
		far := (made[c.name] + most - 1) / most
		for _, way := range ways(c) {
			for n := 1; n <= made[c.name]; n += far {
				what := "inject=" + c.name + ":" + fmt.Sprintf(way, n)
				if err := t.put(t.ready); err != nil {
					return err
				}
				wrap := []string{"strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + c.name, "-e", what}
				said, err := t.talks(append(wrap, t.files(c.name)...)...)
				if err == nil {
					err = t.survived(said)
				}
				_ = t.settle()
				h.count("mcp")
				if h.result(what, err) {
					return nil
				}
			}
		}
	}
	return nil
}

// steps kills a server with steps before each of them, until it comes to its end.
func (t *mcpTrial) steps(h *harness) error {
	died := t.root + ".died"
	defer os.Remove(died)
	for n := 1; ; n++ {
		if err := t.put(t.ready); err != nil {
			return err
		}
		_ = os.Remove(died)
		said, err := t.talks("env", fmt.Sprintf("FAULTS_DIE=%d", n), "FAULTS_DIED="+died)
		at, alive := os.ReadFile(died)
		if err == nil {
			err = t.survived(said)
		}
		_ = t.settle()
		h.count("mcp")
		if h.result(fmt.Sprintf("killed before step %s", at), err) || alive != nil {
			return nil
		}
	}
}

// files are the arguments with which strace heeds files alone: a read of a pipe cannot fail, and Go waits for ever for
// a child whose pipe does.
func (t *mcpTrial) files(name string) (args []string) {
	if name != "read" {
		return nil
	}
	for path, e := range t.ready {
		if e.mode.IsRegular() {
			args = append(args, "-P", path)
		}
	}
	return args
}

// made counts the calls of a conversation without a fault.
func (t *mcpTrial) made() (map[string]int, error) {
	made, err := t.count()
	reads, failed := t.count(append(t.files("read"), "-e", "trace=read")...)
	made["read"] = reads["read"]
	return made, errors.Join(err, failed)
}

// count counts the calls that strace heeds, in the thread that makes most of them.
func (t *mcpTrial) count(args ...string) (map[string]int, error) {
	if err := t.put(t.ready); err != nil {
		return nil, err
	}
	trace := t.root + ".trace"
	defer os.Remove(trace)
	if _, err := t.talks(append([]string{"strace", "-f", "-qq", "-o", trace}, args...)...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(trace)
	threads, most := map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(text)) {
		if thread, _, ok := strings.Cut(line, "("); ok {
			threads[thread]++
			name := thread[strings.LastIndexByte(thread, ' ')+1:]
			most[name] = max(most[name], threads[thread])
		}
	}
	return most, errors.Join(err, t.settle())
}

func TestMCP(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "the MCP server killed, or calls that fail")
	needStrace(t)
	try := func(h *harness, name string, each func(*mcpTrial) error) {
		p, err := get(name)
		if err != nil {
			h.Fatal(err)
		}
		one, err := newMCPTrial(newWorld(h.T, p, inMemory))
		if err != nil && h.broken == "" {
			h.Fatal(err)
		}
		if err == nil {
			err = each(one)
		}
		if err != nil {
			h.result("without a fault", err)
		}
	}
	killed := func(t *mcpTrial) error { return t.each(h, 40/stride(10), kill) }
	failing := func(t *mcpTrial) error { return t.each(h, 20/stride(10), fail) }
	steps := func(t *mcpTrial) error { return t.steps(h) }
	try(h, "runner", killed)
	try(h, "runner", failing)
	try(h, "runner with steps", steps)
	h.control("acknowledges what it cannot keep", func(h *harness) {
		try(h, h.broken, func(t *mcpTrial) error { return t.each(h, 20, fail) })
	})
	h.control("leaves an ending half done", func(h *harness) {
		try(h, h.broken, func(t *mcpTrial) error { return t.steps(h) })
	})
}
