package agent

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCommandLines shows the command line of each built-in agent when nothing is asked, and when all is asked.
func TestCommandLines(t *testing.T) {
	all := Asked{Model: "m", Effort: "high", Permission: "p", SkipPermissions: true, Resume: "id", BudgetUSD: 2}
	for _, row := range BuiltIn() {
		want, known := map[string][2]string{
			"claude": {"claude -p --output-format stream-json --verbose", "claude -p --output-format stream-json --verbose " +
				"--model m --effort high --permission-mode p --dangerously-skip-permissions --max-budget-usd 2.0000 --resume id"},
			"codex": {"codex exec --json -", "codex exec --json --model m --config model_reasoning_effort=high --sandbox p " +
				"--dangerously-bypass-approvals-and-sandbox resume id -"},
			"copilot": {"copilot --output-format json --no-ask-user --no-auto-update", "copilot --output-format json " +
				"--no-ask-user --no-auto-update --model m --reasoning-effort high --allow-all --resume=id"},
			"gemini": {"gemini --output-format stream-json", "gemini --output-format stream-json --model m " +
				"--approval-mode p --yolo --skip-trust --resume id"},
			"opencode": {"opencode run --format json",
				"opencode run --format json --model m --variant high --auto --session id"},
			"qwen": {"qwen --output-format stream-json",
				"qwen --output-format stream-json --model m --approval-mode p --yolo --resume id"},
			"aider": {"aider --message-file", "aider --model m --yes --message-file"},
			"amp":   {"amp --execute --stream-json", "amp --execute --stream-json --dangerously-allow-all"},
			"cursor-agent": {"cursor-agent -p --output-format stream-json",
				"cursor-agent -p --output-format stream-json --model m --force --resume id"},
		}[row.Name]
		if !known {
			t.Errorf("no row for %s", row.Name)
		}
		for i, asked := range []Asked{{}, all} {
			if got := strings.Join(row.Line(asked), " "); got != want[i] {
				t.Errorf("%s\n got %s\nwant %s", row.Name, got, want[i])
			}
		}
	}
}

// TestNoPermissionByItself checks that no agent may do more than its own configuration allows unless a person says so.
func TestNoPermissionByItself(t *testing.T) {
	may := regexp.MustCompile(`yolo|--force|--auto\b|--yes|allow|danger|trust|sandbox|approv`)
	for _, row := range BuiltIn() {
		line := strings.Join(slices.Concat(row.Env, row.Line(Asked{})), " ")
		if may.MatchString(line) {
			t.Errorf("%s: %s", row.Name, line)
		}
		if row.SkipPermissionsFlag != "" && row.Name != "amp" && !may.MatchString(row.SkipPermissionsFlag) {
			t.Errorf("control: %s is not caught", row.SkipPermissionsFlag)
		}
	}
}

func TestWarning(t *testing.T) {
	codex, _, _ := strings.Cut(codexRow.Warning(Asked{}), ",")
	if codex != "unless its own configuration allows it" {
		t.Errorf("%q", codexRow.Warning(Asked{}))
	}
	allowed := codexRow
	allowed.Command = append(slices.Clone(codexRow.Command), "--sandbox=workspace-write")
	for _, got := range []string{
		codexRow.Warning(Asked{SkipPermissions: true}), codexRow.Warning(Asked{Permission: "x"}),
		allowed.Warning(Asked{}), opencodeRow.Warning(Asked{}),
	} {
		if got != "" {
			t.Errorf("%q", got)
		}
	}
}
