package agent

// Codex, measured with 0.169.0.
var codexRow = Row{
	Name: "codex", Command: []string{"codex", "exec", "--json"}, Last: []string{"-"},
	PromptBy: ByStdin, Output: OutputCodex, Login: "codex login",
	ModelFlag: "--model", EffortFlag: "--config model_reasoning_effort=",
	PermissionFlag: "--sandbox", SkipPermissionsFlag: "--dangerously-bypass-approvals-and-sandbox",
	GitFlag: "--skip-git-repo-check",
	Refuses: "every write, because its sandbox is read-only", Permits: []string{"--sandbox", "-s", "sandbox_mode",
		"--dangerously-bypass-approvals-and-sandbox", "--yolo", "--approve-for-me"},
	Advice: "--permission-mode workspace-write, where git cannot commit, or, in a sandbox, --dangerously-skip-permissions",
	Driven: "0.169.0",
}

// NewCodex returns the Parser for Codex, run with exec --json. Its last event is turn.completed or turn.failed. After
// a SIGINT it ends with status 1 and without either, and after no other failure.
func NewCodex() Parser {
	return &eventParser{dialect: dialect{
		read:  readCodex,
		exits: map[int]Class{1: Interrupted},
		noise: []string{"Reading additional input from stdin", "Reading prompt from stdin", "WARNING: "},
	}}
}

func readCodex(p *eventParser, e event) {
	switch e.Get("type").Str {
	case "thread.started":
		p.goOn()
		p.activity.Session = e.at("thread_id").name()
	case "turn.started":
		p.goOn()
		p.failure = nil
	case "item.started":
		p.goOn()
		p.begins(e.at("item.id"), e.at("item.type"),
			e.first("item.command", "item.changes.0.path", "item.query", "item.tool"))
	case "item.completed":
		p.goOn()
		p.ends(e.at("item.id"), e.Get("item.status").Str == "declined")
		if e.Get("item.type").Str == "agent_message" {
			p.says(e.at("item.text"))
		}
	case "error": // it tries again, or turn.failed follows
		p.activity.Retrying = true
	case "turn.completed":
		p.finish()
		u := "usage."
		p.usage(e.tokens(u+"input_tokens"), e.tokens(u+"output_tokens"), e.tokens(u+"cached_input_tokens"),
			e.tokens(u+"cache_write_input_tokens"))
		p.activity.Usage.TokensKnown = e.Get("usage").IsObject()
	case "turn.failed":
		p.finish()
		p.fails(e.at("error.message"), 0)
	}
}
