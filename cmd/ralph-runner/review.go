package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// usualReview is the chain of a review for which a person names none. Its limits are those of a loop together.
const usualReview = say.Builder + ":10 " + chain.Both + " " + say.Reviewer + ":5"

// review begins a run with the reviewer of its chain: the list has what has changed as a feature that is claimed.
func (v verbs) review() *cobra.Command {
	k := &runner{verbs: v}
	k.cmd = &cobra.Command{
		Use: "review", Short: "Review your changes, and fix what the review finds", Long: reviewHelp,
		Example: `  ralph-runner review --chain 'claude:10 <-> codex:5' --check 'npm test'`,
		RunE: cli.Run(func(w io.Writer, _ []string) error {
			if k.base == "" {
				return cli.Usagef("since when? say --base main")
			}
			return k.run(w, nil)
		}),
	}
	k.flags()
	likeRun(k.cmd)
	k.cmd.Flags().StringVar(&k.base, "base", "main", "review changes since the branch or commit `REF`")
	k.chain = usualReview
	return k.cmd
}

const reviewHelp = `Review your changes, and fix what the review finds, in a loop on a new list review-ID.json.
The agent after the <-> of --chain adds each finding as a feature, and the agent before it
implements it. The default chain is ` + usualReview + `.
The flags of 'ralph-runner run' work, too.`

// findings makes the list of a review, and returns its name.
func (k *runner) findings() (string, error) {
	commit := tree.Base(k.Env.Vars, k.Env.Cwd, k.base)
	if commit == "" {
		return "", cli.Usagef("git finds no commit from which both %s and your files come; name one with --base",
			plain.Arg(k.base))
	}
	list, err := json.MarshalIndent([]map[string]any{{
		"id": "review", "title": "What has changed since " + plain.Line(k.base, 100) + " is right", "passes": true,
		"description": fmt.Sprintf("'git diff %s' shows it, and 'git status' the new files. Keep this feature as it is. "+
			"Each finding is a feature of its own: what is wrong, where, and how to see that it is fixed.", commit),
	}}, "", "  ")
	if err != nil {
		return "", err
	}
	name := "review-" + record.NewID() + ".json"
	return name, os.WriteFile(name, append(list, '\n'), 0o644)
}

// beginReview lets a chain begin with its reviewer.
func (k *runner) beginReview(c *record.Chain) error {
	if len(c.Steps) < 2 || !c.Steps[1].Reviews {
		return cli.Usagef("--chain: a review begins with the agent behind %s, such as %s", chain.Both, usualReview)
	}
	c.At = 1
	k.options.Agent = c.Steps[1].Agent
	return nil
}

// loopOf returns the name of the loop of a review.
func loopOf(list string) string { return strings.TrimSuffix(list, ".json") }
