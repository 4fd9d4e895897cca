package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// agent plays a session of Claude Code whose model does one feature a turn. In a loop without a
// list, it says in its second turn that it is done. The documents start it with: claude [FLAG…]
// PROMPT. If $SOLUTIONS names a folder, the agent first claims each feature without work, which must
// be refused. Then it copies the files from the folder with the feature's id into the project.
type agent struct {
	project, solutions string
	loop               string // empty: that of current
	env                []string
	hooks              gjson.Result // as the settings have them
}

// maxTurns is more than any loop in the documents needs.
const maxTurns = 60

func playAgent(args []string) int {
	err := func() error {
		if len(args) == 0 {
			return errors.New("no prompt")
		}
		if args[0] == "plugin" {
			return nil // there are none
		}
		project, err := os.Getwd()
		if err != nil {
			return err
		}
		a := agent{project: project, solutions: os.Getenv("SOLUTIONS")}
		a.env = append(
			os.Environ(), "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_PROJECT_DIR="+project,
			"CLAUDE_PID="+strconv.Itoa(os.Getpid()),
		)
		if slices.Contains(args, "stream-json") {
			return a.fresh(os.Stdin)
		}
		return a.driven(slices.MaxFunc(args, func(a, b string) int { return len(a) - len(b) }))
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "claude:", err)
		return 1
	}
	return 0
}

// driven plays a session that the hook drives.
func (a *agent) driven(prompt string) error {
	if first, _, _ := strings.Cut(prompt, "\n"); strings.HasPrefix(first, loopdir.Marker) {
		a.loop = filepath.Base(first)
	}
	if err := a.settings(); err != nil {
		return err
	}
	return a.session(prompt)
}

// settings reads the settings as a client does: local, project, user.
func (a *agent) settings() error {
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	for _, dir := range []string{a.project, home} {
		for _, name := range []string{"settings.local.json", "settings.json"} {
			text, err := os.ReadFile(filepath.Join(dir, ".claude", name))
			if err == nil && gjson.GetBytes(text, "hooks.Stop").Exists() {
				a.hooks = gjson.GetBytes(text, "hooks")
				return nil
			}
		}
	}
	return errors.New("no settings name a Stop hook")
}

// answer is what the hook prints; zero if it prints nothing.
type answer struct {
	Decision, SystemMessage string
	HookSpecificOutput      struct{ AdditionalContext string }
}

// goesOn reports whether the agent gets another prompt: by a block, or by context.
func (a answer) goesOn() bool {
	return a.Decision == "block" || a.HookSpecificOutput.AdditionalContext != ""
}

// call runs the hook for an event, as the client does, and returns the answer.
func (a *agent) call(event string, payload map[string]any) (answer answer, err error) {
	entry := a.hooks.Get(event + ".0.hooks.0")
	if !entry.Exists() {
		return answer, nil
	}
	maps.Copy(payload, map[string]any{
		"hook_event_name": event, "session_id": "5ac1b6f4-" + strconv.Itoa(os.Getpid()), "cwd": a.project,
		"permission_mode": "default",
		"transcript_path": filepath.Join(os.TempDir(), "none.jsonl"), "prompt_id": "d1e5d841",
	})
	stdin, err := json.Marshal(payload)
	if err != nil {
		return answer, err
	}
	cmd := exec.Command("sh", "-c", entry.Get("command").String())
	if list := entry.Get("args").Array(); len(list) > 0 {
		cmd = exec.Command(entry.Get("command").String())
		for _, arg := range list {
			cmd.Args = append(cmd.Args, arg.String())
		}
	}
	cmd.Stdin, cmd.Stderr, cmd.Env = bytes.NewReader(stdin), os.Stderr, a.env
	out, err := cmd.Output()
	if err == nil && len(out) > 0 {
		err = json.Unmarshal(out, &answer)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %q", event, err, out)
	}
	return answer, err
}

func (a *agent) session(prompt string) error {
	if _, err := a.call("UserPromptSubmit", map[string]any{"prompt": prompt}); err != nil {
		return err
	}
	last := ""
	for turn := range maxTurns {
		path, list, err := a.list()
		if err != nil {
			return err
		}
		item, open := list.Next()
		early := a.solutions != "" && open && item.ID != last
		last = item.ID
		if open {
			if !early && a.solutions != "" {
				copying := exec.Command("cp", "-R", filepath.Join(a.solutions, item.ID)+"/.", a.project)
				if out, err := copying.CombinedOutput(); err != nil {
					return fmt.Errorf("the work for %s: %w: %s", item.ID, err, out)
				}
			}
			if err := writeClaim(path, list, item); err != nil {
				return err
			}
		}
		said := "I did what I could."
		if path == "" && turn > 0 {
			said += "\n\n<promise>COMPLETE</promise>"
		}
		answer, err := a.call("Stop", map[string]any{
			"stop_hook_active": turn > 0, "last_assistant_message": said,
			"background_tasks": []any{}, "session_crons": []any{},
		})
		if err != nil {
			return err
		}
		_, list, err = a.list()
		if err != nil {
			return err
		}
		if again, _ := list.Find(item.ID); early && (!answer.goesOn() || again.Passes) {
			return fmt.Errorf("%s was claimed with nothing done for it, and the hook said: %+v", item.ID, answer)
		}
		if !answer.goesOn() {
			fmt.Println(answer.SystemMessage)
			_, err = a.call("SessionEnd", map[string]any{"reason": "other"})
			return err
		}
	}
	return fmt.Errorf("the hook still blocks after %d turns", maxTurns)
}

// list reads the loop's list, in any of its places. The path is empty if the loop has none.
func (a *agent) list() (string, features.List, error) {
	args := []string{"status", "--json"}
	if a.loop != "" {
		args = append(args, a.loop)
	}
	out, err := exec.Command("ralph-stop-hook", args...).Output()
	if err != nil {
		return "", features.List{}, fmt.Errorf("ralph-stop-hook %v: %w", args, err)
	}
	path := gjson.GetBytes(out, "list").String()
	if gjson.GetBytes(out, "noList").Bool() {
		return "", features.List{}, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return path, features.List{}, err
	}
	list, err := features.Parse(data)
	return path, list, err
}

// writeClaim marks an item of the list as done.
func writeClaim(path string, list features.List, item features.Item) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	key, value := list.Claim(item, true)
	if key == "" {
		data = bytes.Replace(data, []byte("[ ] "+item.Title()), []byte("[x] "+item.Title()), 1)
	} else if at := place(gjson.ParseBytes(data), item, "", ""); at != "" {
		data, err = sjson.SetRawBytes(data, at+key, []byte(value))
	} else {
		err = fmt.Errorf("%s is not in %s", item.ID, path)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// place returns the path of an item in a list, with a dot behind it. The item is named by
// its id, which for a subtask begins with the id of its task, or by its title.
func place(v gjson.Result, item features.Item, path, above string) (found string) {
	id := above + v.Get("id").String()
	titled := !v.Get("id").Exists() && item.Title() != "" && v.Get("title").String() == item.Title()
	if path != "" && v.IsObject() && (id == item.ID || titled) {
		return path
	}
	if v.IsObject() && v.Get("id").Exists() {
		above = id + "."
	}
	n := 0
	v.ForEach(func(key, value gjson.Result) bool {
		name := key.String()
		if v.IsArray() {
			name = strconv.Itoa(n)
			n++
		}
		if value.IsObject() || value.IsArray() {
			found = place(value, item, path+name+".", above)
		}
		return found == ""
	})
	return found
}
