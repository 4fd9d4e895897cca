package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Completion returns the verb that prints the completion script of a shell.
func Completion(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Short: "Print the completion script for a shell",
		Example: "  source <(" + root.Name() + " completion bash)     in ~/.bashrc, with the package bash-completion\n  " +
			"source <(" + root.Name() + " completion zsh)      in ~/.zshrc\n  " +
			root.Name() + " completion fish | source      in ~/.config/fish/config.fish",
		RunE: Run(func(w io.Writer, words []string) error {
			switch words[0] {
			case "bash":
				return root.GenBashCompletionV2(w, true)
			case "zsh":
				return root.GenZshCompletion(w)
			case "fish":
				return root.GenFishCompletion(w, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(w)
			}
			return Usagef("there is no completion for %q; say bash, zsh, fish or powershell", words[0])
		}),
	}
}

// complete returns the names of loops that begin with a word.
func (a *App) complete(_ *cobra.Command, _ []string, word string) (names []string, how cobra.ShellCompDirective) {
	for _, name := range a.Loops() {
		if strings.HasPrefix(name, word) && !strings.ContainsFunc(name, plain.Special) {
			names = append(names, name) // a shell puts it on the line as it is
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}
