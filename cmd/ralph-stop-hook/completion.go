package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// shells is what each shell needs to ask the program itself (the hidden verb
// `complete`). The word to complete goes first, behind a sign: some shells lose an
// empty argument.
var shells = []struct{ name, script string }{
	{"bash", `_ralph_stop_hook() {
  local found
  COMPREPLY=()
  while IFS=$'\t' read -r found _; do COMPREPLY+=("$found"); done < <(
    ralph-stop-hook complete "=${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
}
complete -o default -F _ralph_stop_hook ralph-stop-hook
`},
	{"zsh", `#compdef ralph-stop-hook
_ralph_stop_hook() {
  local -a found
  found=("${(@f)$(ralph-stop-hook complete "=${words[CURRENT]}" "${(@)words[2,CURRENT-1]}" 2>/dev/null)}")
  found=("${(@)found/$'\t'/:}")
  [[ -n "$found" ]] && _describe command found || _files
}
if [[ $funcstack[1] == _ralph* ]]; then _ralph_stop_hook; else compdef _ralph_stop_hook ralph-stop-hook; fi
`},
	{"fish", `function __ralph_stop_hook
    set -l before (commandline -opc)
    set -l found (ralph-stop-hook complete "="(commandline -ct) $before[2..-1] 2>/dev/null)
    and test -n "$found"; and printf '%s\n' $found; or __fish_complete_path (commandline -ct)
end
complete -c ralph-stop-hook -f -a '(__ralph_stop_hook)'
`},
	{"powershell", `Register-ArgumentCompleter -Native -CommandName ralph-stop-hook -ScriptBlock {
    param($word, $line, $at)
    $before = @($line.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $at } | ForEach-Object { "$_" })
    & ralph-stop-hook complete "=$word" @before 2>$null | ForEach-Object {
        $name, $what = $_ -split "` + "`" + `t", 2
        [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', "$what ")
    }
}
`},
}

func completionCommand() *command {
	return &command{
		name:    "completion",
		args:    "bash|zsh|fish|powershell",
		short:   "Print what a shell needs to complete our command lines",
		example: "  source <(ralph-stop-hook completion bash)     in ~/.bashrc; zsh in ~/.zshrc\n  ralph-stop-hook completion fish | source      in ~/.config/fish/config.fish",
		run: func(w io.Writer, words []string) error {
			for _, shell := range shells {
				if shell.name == words[0] {
					_, err := io.WriteString(w, shell.script)
					return err
				}
			}
			return &usageError{fmt.Errorf("there is no completion for %q; say bash, zsh, fish or powershell", words[0])}
		},
	}
}

// completeCommand is what the scripts ask: a line for each word that may stand here.
func completeCommand() *command {
	return &command{
		name:   "complete",
		args:   "=WORD [BEFORE]...",
		short:  "Say what may stand on a command line; a shell's completion asks this",
		hidden: true,
		raw:    true,
		run: func(w io.Writer, words []string) error {
			for _, found := range newCommands().complete(strings.TrimPrefix(words[0], "="), words[1:]) {
				fmt.Fprintf(w, "%s\t%s\n", found[0], found[1])
			}
			return nil
		},
	}
}

// complete returns what begins with word and may stand behind the words before, each
// with what it is.
func (all commands) complete(word string, before []string) (found [][2]string) {
	c, words := all.find(before)
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
		if f := c.flags.Lookup(cmp.Or(c.letters[name], name)); f != nil && name != last && !isSwitch(f) {
			return nil // its value
		}
	} else {
		for _, sub := range all.below(c) {
			offer(sub.verb(), sub.short)
		}
	}
	for _, choice := range strings.Split(c.args, "|") {
		if strings.Contains(c.args, "|") && choice == strings.ToLower(choice) {
			offer(choice, "")
		}
	}
	if c.args == "[NAME]" {
		loops, _ := where().All() // without them there is less to offer
		for _, l := range loops {
			// A shell puts it on the line as it is.
			if loopdir.CheckName(l.Name) == nil && !strings.ContainsFunc(l.Name, special) {
				offer(l.Name, "")
			}
		}
	}
	return found
}

// special tells of what means something to a shell.
func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
}
