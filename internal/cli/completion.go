package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// shells has the script with which each shell asks the program itself, by the hidden verb
// `complete`. The word to complete comes first, after a sign, because some shells drop an empty
// argument.
var shells = []struct{ name, script string }{
	{"bash", `_@FUNC@() {
  local found
  COMPREPLY=()
  while IFS=$'\t' read -r found _; do COMPREPLY+=("$found"); done < <(
    @NAME@ complete "=${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
}
complete -o default -F _@FUNC@ @NAME@
`},
	{"zsh", `#compdef @NAME@
_@FUNC@() {
  local -a found
  found=("${(@f)$(@NAME@ complete "=${words[CURRENT]}" "${(@)words[2,CURRENT-1]}" 2>/dev/null)}")
  found=("${(@)found/$'\t'/:}")
  [[ -n "$found" ]] && _describe command found || _files
}
if [[ $funcstack[1] == _@FUNC@* ]]; then _@FUNC@; else compdef _@FUNC@ @NAME@; fi
`},
	{"fish", `function __@FUNC@
    set -l before (commandline -opc)
    set -l found (@NAME@ complete "="(commandline -ct) $before[2..-1] 2>/dev/null)
    and test -n "$found"; and printf '%s\n' $found; or __fish_complete_path (commandline -ct)
end
complete -c @NAME@ -f -a '(__@FUNC@)'
`},
	{"powershell", `Register-ArgumentCompleter -Native -CommandName @NAME@ -ScriptBlock {
    param($word, $line, $at)
    $before = $line.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $at }
    $before = @($before | ForEach-Object { "$_" })
    & @NAME@ complete "=$word" @before 2>$null | ForEach-Object {
        $name, $what = $_ -split "` + "`" + `t", 2
        [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', "$what ")
    }
}
`},
}

// Completion returns the verb that prints the completion script of a shell, and the hidden verb
// that the script calls.
func Completion(app *App) []*Command {
	return []*Command{
		{
			Name: "completion", Args: "bash|zsh|fish|powershell",
			Short: "Print the completion script for a shell",
			Example: "  source <(" + app.Name + " completion bash)     in ~/.bashrc; zsh in ~/.zshrc\n  " +
				app.Name + " completion fish | source      in ~/.config/fish/config.fish",
			Run: func(w io.Writer, words []string) error { return printScript(w, app.Name, words[0]) },
		},
		{
			Name: "complete", Args: "=WORD [BEFORE]...", Hidden: true, Raw: true,
			Short: "Say what may stand on a command line; a shell's completion asks this",
			Run: func(w io.Writer, words []string) error {
				for _, found := range app.complete(strings.TrimPrefix(words[0], "="), words[1:]) {
					fmt.Fprintf(w, "%s\t%s\n", found[0], found[1])
				}
				return nil
			},
		},
	}
}

func printScript(w io.Writer, program, name string) error {
	names := strings.NewReplacer("@NAME@", program, "@FUNC@", strings.ReplaceAll(program, "-", "_"))
	for _, shell := range shells {
		if shell.name == name {
			_, err := names.WriteString(w, shell.script)
			return err
		}
	}
	return Usagef("there is no completion for %q; say bash, zsh, fish or powershell", name)
}

// complete returns what begins with word and may follow the words before, each with its
// description.
func (a *App) complete(word string, before []string) (found [][2]string) {
	named, words := a.Find(before)
	c := named
	if c.Name == "" && a.Usual != "" {
		c, _ = a.Find([]string{a.Usual})
	}
	offer := func(name, what string) {
		if strings.HasPrefix(name, word) {
			found = append(found, [2]string{name, what})
		}
	}
	if strings.HasPrefix(word, "-") {
		for _, row := range c.options() {
			name, _, _ := strings.Cut(row[0][strings.Index(row[0], "--"):], " ")
			offer(name, row[1])
		}
		return found
	}
	if len(words) > 0 {
		last := words[len(words)-1]
		name := strings.TrimLeft(last, "-")
		if f := c.Flags.Lookup(cmp.Or(c.Letters[name], name)); f != nil && name != last && !isSwitch(f) {
			return nil // its value
		}
	} else {
		for _, sub := range a.below(named) {
			offer(sub.verb(), sub.Short)
		}
	}
	for _, choice := range strings.Split(c.Args, "|") {
		if strings.Contains(c.Args, "|") && choice == strings.ToLower(choice) {
			offer(choice, "")
		}
	}
	if strings.Contains(c.Args, "[NAME") && a.Loops != nil {
		for _, name := range a.Loops() {
			if !strings.ContainsFunc(name, plain.Special) { // a shell puts it on the line as it is
				offer(name, "")
			}
		}
	}
	return found
}
