//go:build browser

package browser

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// world is a project with a loop, and a server that shows it.
type world struct {
	*testing.T
	dir, project, runner string
	env                  []string
	started              []*exec.Cmd
}

// newWorld makes a loop of three features. Its agent works a feature when the file go-ID is there.
func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: dir, project: filepath.Join(dir, "checkout"), runner: filepath.Join(dir, "bin", "ralph-runner")}
	w.env = []string{
		"HOME=" + dir, "PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "RALPH_STATE_DIR=" + dir + "/state",
	}
	for _, program := range []string{"ralph-runner", "ralph-stop-hook"} {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, "bin", program), "../cmd/"+program)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	w.write("checkout/feature_list.json", `[
		{"id": "login", "title": "Log in with a password <script>alert(1)</script>", "passes": false},
		{"id": "logout", "title": "Log out", "passes": false},
		{"id": "mail", "title": "Send a mail", "passes": false}]`)
	w.write("checkout/check.sh", "grep -q \"$RALPH_FEATURE\" done.txt\n")
	w.write("checkout/agent.sh", `prompt=$(cat)
id=$(printf '%s\n' "$prompt" | sed -n 's/^  id: //p')
echo "I work on $id <img src=x onerror=alert(2)>"
until test -e "go-$id"; do sleep 0.1; done
echo "$id" >>done.txt
sed "/\"$id\"/s/false/true/" feature_list.json >new && mv new feature_list.json
`)
	w.write(".config/ralph-stop-hook/config.json", `{"agents": {"worker": {"command": ["sh", "agent.sh"]}}}`)
	w.call("ralph-stop-hook", "init", "checkout", "--settings", "none")
	return w
}

func (w *world) write(name, text string) {
	w.Helper()
	name = filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

func (w *world) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(w.dir, "bin", program), args...)
	cmd.Dir, cmd.Env = w.project, w.env
	return cmd
}

func (w *world) call(program string, args ...string) {
	w.Helper()
	if out, err := w.command(program, args...).CombinedOutput(); err != nil {
		w.Fatalf("%s %q: %v: %s", program, args, err, out)
	}
}

// end ends the first program that was started with an argument.
func (w *world) end(arg string) {
	w.Helper()
	i := slices.IndexFunc(w.started, func(c *exec.Cmd) bool { return slices.Contains(c.Args, arg) })
	if err := w.started[i].Process.Signal(os.Interrupt); err != nil {
		w.Fatal(err)
	}
	_ = w.started[i].Wait()
}

// start starts a program that ends with the test, if not before.
func (w *world) start(program string, args ...string) (wait func() error, first string) {
	w.Helper()
	cmd := w.command(program, args...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.Fatal(err)
	}
	w.started = append(w.started, cmd)
	w.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewReader(out)
	first, _ = lines.ReadString('\n')
	go func() { _, _ = lines.WriteTo(os.Stderr) }()
	return cmd.Wait, strings.TrimSpace(first)
}
