package agent

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCommandLines shows the command line of each built-in agent when nothing is asked, and when all is asked.
func TestCommandLines(t *testing.T) {
	all := Options{Model: "m", Effort: "high", Permission: "p", SkipPermissions: true, BudgetUSD: 2}
	for _, row := range BuiltIn() {
		want, known := map[string][2]string{
			"claude": {"claude -p --output-format stream-json --verbose", "claude -p --output-format stream-json --verbose " +
				"--model m --effort high --permission-mode p --dangerously-skip-permissions --max-budget-usd 2.0000"},
			"codex": {"codex exec --json -", "codex exec --json --model m --config model_reasoning_effort=high --sandbox p " +
				"--dangerously-bypass-approvals-and-sandbox -"},
			"copilot": {"copilot --output-format json --no-ask-user --no-auto-update", "copilot --output-format json " +
				"--no-ask-user --no-auto-update --model m --reasoning-effort high --allow-all"},
			"gemini": {"gemini --output-format stream-json", "gemini --output-format stream-json --model m " +
				"--approval-mode p --yolo --skip-trust"},
			"opencode": {"opencode run --format json",
				"opencode run --format json --model m --variant high --auto"},
			"qwen": {"qwen --output-format stream-json",
				"qwen --output-format stream-json --model m --approval-mode p --yolo"},
		}[row.Name]
		if !known {
			t.Errorf("no row for %s", row.Name)
		}
		for i, asked := range []Options{{}, all} {
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
		line := strings.Join(slices.Concat(row.Env, row.Line(Options{})), " ")
		if may.MatchString(line) {
			t.Errorf("%s: %s", row.Name, line)
		}
		if row.SkipPermissionsFlag != "" && !may.MatchString(row.SkipPermissionsFlag) {
			t.Errorf("control: %s is not caught", row.SkipPermissionsFlag)
		}
	}
}

func TestWarnings(t *testing.T) {
	allowed, anywhere := codexRow, codexRow
	allowed.Command = append(slices.Clone(codexRow.Command), "--sandbox=workspace-write")
	anywhere.Command = append(slices.Clone(codexRow.Command), "--skip-git-repo-check")
	for _, tc := range []struct {
		row   Row
		asked Options
		git   bool
		want  string
	}{
		{codexRow, Options{}, true, "refuses every write"},
		{codexRow, Options{}, false, "starts in git repositories alone|refuses every write"},
		{codexRow, Options{Permission: "workspace-write"}, false, "starts in git repositories alone"},
		{codexRow, Options{Permission: "workspace-write"}, true, ""},
		{codexRow, Options{SkipPermissions: true}, false, ""},
		{allowed, Options{}, true, ""},
		{anywhere, Options{}, false, "refuses every write"},
		{geminiRow, Options{}, false, "refuses every command and edit"},
		{opencodeRow, Options{}, false, ""},
	} {
		got := tc.row.Warnings(tc.asked, tc.git)
		want := strings.FieldsFunc(tc.want, func(r rune) bool { return r == '|' })
		if !slices.EqualFunc(got, want, strings.Contains) {
			t.Errorf("%s %+v %v: %q, want %q", tc.row.Name, tc.asked, tc.git, got, want)
		}
	}
}
