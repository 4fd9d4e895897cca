package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// honestRow is a row of testdata/honest.txt, where its keys are explained.
type honestRow struct {
	title string
	keys  map[string]string
	files []txtar.File
	parts map[string]string // before, work, turn 1 and so on
}

func honestRows(t *testing.T) []honestRow {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "honest.txt"))
	if err != nil {
		t.Fatal(err)
	}
	bases, rows := map[string]honestRow{}, []honestRow(nil)
	for _, text := range strings.Split("\n"+string(data), "\n== ")[1:] {
		title, text, _ := strings.Cut(text, "\n")
		name, isBase := strings.CutPrefix(title, "base ")
		row := honestRow{title: title, keys: map[string]string{}, parts: map[string]string{}}
		row.add(bases["any"])
		archive := txtar.Parse([]byte(text))
		own := map[string]string{}
		for line := range strings.Lines(string(archive.Comment)) {
			if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
				continue
			}
			key, value, ok := strings.Cut(line, ":")
			if !ok || !honestKeys.MatchString(key) {
				t.Fatalf("%s: %q is no key", title, line)
			}
			own[key] = strings.TrimSpace(value)
		}
		if base := own["base"]; base != "" {
			if _, ok := bases[base]; !ok {
				t.Fatalf("%s: there is no base %s", title, base)
			}
			row.add(bases[base])
		}
		row.add(honestRow{keys: own, files: archive.Files})
		if isBase {
			bases[name] = row
			continue
		}
		rows = append(rows, row)
	}
	return rows
}

var (
	honestKeys = regexp.MustCompile(`^(base|needs|env|check|init|also|dir|git|end)$`)
	honestPart = regexp.MustCompile(`^(before|work|turn|turn [2-9]|lane)$`)
	honestEnd  = regexp.MustCompile(`^Ralph loop ([A-Z_]+): shop: `)
)

// add gives the row what another one has.
func (r *honestRow) add(other honestRow) {
	for key, value := range other.keys {
		r.keys[key] = value
	}
	for part, text := range other.parts {
		r.parts[part] = text
	}
	for _, f := range other.files {
		if honestPart.MatchString(f.Name) {
			r.parts[f.Name] = string(f.Data)
		} else {
			r.files = append(r.files, f)
		}
	}
}

// wants returns how the row says that its loop ends.
func (r *honestRow) wants() string {
	status, _, _ := strings.Cut(cmp.Or(r.keys["end"], "COMPLETE"), ",") // the reason follows
	return status
}

// TestHonest plays agents that do their work in ordinary projects with init's defaults, in a session and again as the
// agents of a run. Each loop ends as its row says: COMPLETE, if a person has not forbidden what the work needs.
func TestHonest(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the rows are scripts of sh")
	}
	t.Parallel()
	rows := honestRows(t)
	if len(rows) < 100 {
		t.Errorf("%d rows, want 100", len(rows))
	}
	env := honestEnv(t)
	seen := map[string]bool{}
	for i, row := range rows {
		if seen[row.title] {
			t.Errorf("two rows are called %s", row.title)
		}
		seen[row.title] = true
		if testing.Short() && i%10 > 0 {
			continue
		}
		for _, runner := range []bool{false, true} {
			if testing.Short() && runner && i%20 > 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/runner=%v", row.title, runner), func(t *testing.T) {
				t.Parallel()
				for _, tool := range strings.Fields(row.keys["needs"]) {
					if !works(tool, env) {
						t.Skip("needs " + tool)
					}
				}
				if _, isLane := row.parts["lane"]; isLane && !runner {
					t.Skip("a session has no lanes")
				}
				if runner && strings.Contains(fmt.Sprint(row.parts), "person ralph-stop-hook trust") {
					t.Skip("trust refuses what a run has started, and the person of a row has no terminal beside it")
				}
				p := &honestPlay{t: t, row: row, runner: runner, env: env}
				if got, want := p.play(), row.wants(); got != want {
					t.Errorf("the loop is %s, want %s:\n%s", got, want, strings.Join(p.said, "\n"))
				}
			})
		}
	}
}

// TestHonestControl plays rows again, whose agents now claim without any work. None of these loops is COMPLETE.
func TestHonestControl(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the rows are scripts of sh")
	}
	t.Parallel()
	env := honestEnv(t)
	bases := map[string]bool{}
	for _, row := range honestRows(t) {
		base := row.keys["base"]
		if bases[base] || row.keys["needs"] == "cargo" || row.wants() != "COMPLETE" {
			continue
		}
		bases[base] = true
		row.parts["work"] = ":\n"
		for _, runner := range []bool{false, true} {
			if testing.Short() && runner {
				continue
			}
			p := &honestPlay{t: t, row: row, runner: runner, env: env}
			if got := p.play(); got != "IN_PROGRESS" {
				t.Errorf("%s, with no work (runner: %v): the loop is %s:\n%s", row.title, runner, got,
					strings.Join(p.said, "\n"))
			}
		}
	}
	if len(bases) < 5 {
		t.Errorf("only %d bases were played", len(bases))
	}
}

// honestEnv returns variables for the tools: their own installation and caches, and no network.
func honestEnv(t *testing.T) []string {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{
		"GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=", "CARGO_NET_OFFLINE=true",
		"RUSTUP_HOME=" + cmp.Or(os.Getenv("RUSTUP_HOME"), filepath.Join(home, ".rustup")),
		"CARGO_HOME=" + cmp.Or(os.Getenv("CARGO_HOME"), filepath.Join(home, ".cargo")),
		"npm_config_offline=true", "npm_config_update_notifier=false", "GIT_TEMPLATE_DIR=", "CLAUDECODE=",
		"XDG_CONFIG_HOME=",
	}
	if out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output(); err == nil {
		folders := strings.Fields(string(out))
		env = append(env, "GOCACHE="+folders[0], "GOMODCACHE="+folders[1])
	}
	path := buildRunner(t) + string(os.PathListSeparator) + os.Getenv("PATH")
	// A program that stands for python3 and looks for the right one is slow.
	if out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output(); err == nil {
		path = filepath.Dir(strings.TrimSpace(string(out))) + string(os.PathListSeparator) + path
	}
	return append(env, "PATH="+path)
}

// works reports whether a tool runs. That of a toolchain which nobody has installed only says so.
func works(tool string, env []string) bool {
	cmd := exec.Command("sh", "-c", `"$0" --version || "$0" version`, tool)
	cmd.Env = append(os.Environ(), env...)
	return cmd.Run() == nil
}

// honestPlay is one play of a row.
type honestPlay struct {
	t      *testing.T
	row    honestRow
	runner bool // the turns are sessions of a run
	env    []string
	dir    string
	said   []string // by the hook, and by what the row runs
}

// play returns the status of the row's loop at its end, or after the last turn.
func (p *honestPlay) play() string {
	work := p.t.TempDir()
	top := filepath.Join(work, "project")
	setup := &testscript.Env{WorkDir: work}
	if err := params("script").Setup(setup); err != nil {
		p.t.Fatal(err)
	}
	home := filepath.Join(work, "home")
	p.env = append(append(os.Environ(), setup.Vars...), p.env...)
	p.env = append(p.env, "PATH="+filepath.Join(home, "bin")+string(os.PathListSeparator)+proc.Value(p.env, "PATH"))
	p.env = append(p.env, "GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig")) // a row may write it
	for _, variable := range strings.Fields(p.row.keys["env"]) {
		p.env = append(p.env, strings.ReplaceAll(variable, "TOP", top))
	}
	for _, f := range p.row.files {
		file, mode := filepath.Join(top, f.Name), os.FileMode(0o644)
		if name, inHome := strings.CutPrefix(f.Name, "~/"); inHome {
			file, mode = filepath.Join(home, name), 0o755
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, mode); err != nil {
			p.t.Fatal(err)
		}
	}
	p.dir = top
	if p.row.keys["git"] != "no" {
		p.person("git init -q -b main && git add -A && git commit -qm first")
	}
	p.person(p.row.parts["before"])
	p.dir = filepath.Join(top, p.row.keys["dir"])
	p.init()

	if p.runner {
		return p.sessions(work)
	}
	prompt, err := os.ReadFile(p.loopFile("RALPH_PROMPT.md"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.hook("user-prompt-submit.json", "prompt", string(prompt))
	for _, turn := range p.turns() {
		p.run(turn.script, "CLAUDECODE=1")
		answer := p.hook("stop.json", "last_assistant_message", turn.message)
		if found := honestEnd.FindStringSubmatch(answer); found != nil {
			proven := strings.Contains(answer, " proven") || strings.Contains(answer, "every check holds")
			if found[1] == "COMPLETE" && !proven {
				return "COMPLETE without proof"
			}
			return found[1]
		}
	}
	return "IN_PROGRESS"
}

// honestTurn is what the agent does in a turn, and what it says at its end.
type honestTurn struct{ script, message string }

func (p *honestPlay) turns() (turns []honestTurn) {
	for _, part := range []string{"turn", "turn 2", "turn 3"} {
		script, ok := p.row.parts[part]
		if !ok {
			break
		}
		turns = append(turns, honestTurn{
			"work() {\n" + p.row.parts["work"] + "}\n" + script, "I have worked at it.",
		})
	}
	last := &turns[len(turns)-1]
	last.message = "It is done.\n\n<promise>COMPLETE</promise>"
	if !p.claims() {
		last.script += "\nclaim\n"
	}
	return turns
}

// sessions plays the turns as sessions of a run. After the last one a person pauses it, if it would go on.
func (p *honestPlay) sessions(work string) string {
	file := func(name, text string) string {
		path := filepath.Join(work, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			p.t.Fatal(err)
		}
		return path
	}
	args := ""
	turns := p.turns()
	for i, turn := range turns {
		file(fmt.Sprintf("turn.%d", i+1), honestWords+turn.script+"\ncat <<'END'\n"+turn.message+"\nEND\n")
	}
	file(fmt.Sprintf("turn.%d", len(turns)+1), "env -u RALPH_RUN ralph-stop-hook pause shop\n")
	agent := file("agent.sh", "n=$(cat $TURNS/n 2>/dev/null)\nn=$((n + 1))\necho $n > $TURNS/n\nexec sh $TURNS/turn.$n\n")
	if lane, isLane := p.row.parts["lane"]; isLane {
		args = " --workers 2"
		agent = file("agent.sh", honestWords+"id=$(sed -n 's/^  id: //p' | head -1)\n"+lane+"\nclaim $id\n")
	}
	file("home/.config/ralph-stop-hook/config.json", fmt.Sprintf(`{"agents": {"honest": {"command": ["sh", %q]}}}`, agent))
	// It is on the row's PATH.
	cmd := exec.Command("sh", "-c", "exec ralph-runner shop --agent honest --wait 0s"+args)
	cmd.Dir = p.dir
	cmd.Env = append(p.env, "TURNS="+work)
	out, _ := cmd.CombinedOutput() // the status says how it ended
	p.said = append(p.said, string(out))
	found := regexp.MustCompile(`(?m)^Ralph loop ([A-Z_]+): shop: .*`).FindSubmatch(out)
	switch {
	case found == nil:
		return "no ending"
	case string(found[1]) == "PAUSED":
		return "IN_PROGRESS"
	case string(found[1]) == "COMPLETE" && !regexp.MustCompile(` proven|every check holds`).Match(found[0]):
		return "COMPLETE without proof"
	}
	return string(found[1])
}

// claims says whether a turn of the row claims something itself, or works without feature_list.json.
func (p *honestPlay) claims() bool {
	for _, script := range p.row.parts {
		if strings.Contains(script, "claim") {
			return true
		}
	}
	return strings.Contains(p.row.keys["init"], "--prompt") || strings.Contains(p.row.keys["init"], "--features")
}

// init makes the loop, as a person does.
func (p *honestPlay) init() {
	args := "ralph-stop-hook init shop --settings none "
	if check := p.row.keys["check"]; check != "" {
		args += "--check '" + strings.ReplaceAll(check, "'", `'\''`) + "' "
	}
	p.person(args + p.row.keys["init"])
	also := p.row.keys["also"]
	if also == "" {
		return
	}
	config, err := os.ReadFile(p.loopFile("ralph.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	gjson.Parse(also).ForEach(func(key, value gjson.Result) bool {
		if key.Str == "protect" { // beside what init suggests
			for _, pattern := range value.Array() {
				config, err = sjson.SetBytes(config, "protect.-1", pattern.Str)
			}
			return err == nil
		}
		config, err = sjson.SetRawBytes(config, key.Str, []byte(value.Raw))
		return err == nil
	})
	if err != nil || !gjson.Valid(also) {
		p.t.Fatalf("%v: %s", err, also)
	}
	if err := os.WriteFile(p.loopFile("ralph.json"), config, 0o644); err != nil {
		p.t.Fatal(err)
	}
	p.person("ralph-stop-hook trust shop --yes")
}

func (p *honestPlay) loopFile(name string) string {
	return filepath.Join(p.dir, ".claude", "data", "ralph-loops", "shop", name)
}

func (p *honestPlay) person(script string) {
	if script != "" {
		p.run(script)
	}
}

// honestWords are words of the rows' scripts.
const honestWords = `set -e
claim() {
	sed -i.before -e "/\"id\": \"$1/s/\"passes\": false/\"passes\": true/" feature_list.json
	rm feature_list.json.before
}
person() { env -u CLAUDECODE -u RALPH_RUN "$@"; }
`

// run runs a script in the loop's folder.
func (p *honestPlay) run(script string, vars ...string) {
	p.t.Helper()
	cmd := exec.Command("sh", "-c", honestWords+script)
	cmd.Dir = p.dir
	cmd.Env = append(p.env, vars...)
	out, err := cmd.CombinedOutput()
	p.said = append(p.said, strings.TrimSpace(string(out)))
	if err != nil {
		p.t.Fatalf("%v:\n%s\n%s", err, script, out)
	}
}

// hook plays the client: it sends an event and returns the message that a person sees.
func (p *honestPlay) hook(event, key, value string) string {
	data, err := os.ReadFile(filepath.Join(payloads, event))
	if err != nil {
		p.t.Fatal(err)
	}
	for k, v := range map[string]string{"session_id": "s1", "cwd": p.dir, key: value} {
		data, err = sjson.SetBytes(data, k, v)
		if err != nil {
			p.t.Fatal(err)
		}
	}
	var trouble bytes.Buffer
	cmd := exec.Command("ralph-stop-hook", "hook")
	cmd.Dir = p.dir
	cmd.Env = append(p.env, "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_PROJECT_DIR="+p.dir)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(data), &trouble
	out, err := cmd.Output()
	p.said = append(p.said, string(out))
	if err != nil || trouble.Len() > 0 {
		p.t.Errorf("the hook: %v\n%s", err, trouble.String())
	}
	return gjson.GetBytes(out, "systemMessage").String()
}
