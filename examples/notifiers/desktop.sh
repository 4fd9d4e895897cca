#!/bin/sh
# A notice on the desktop: notify-send on Linux, osascript on macOS. Windows has desktop.ps1.
# To configure: nothing.
set -eu
payload=$(cat)

# field prints the text of a key of the payload, which is one line, cleaned by the hook.
field() {
	printf '%s\n' "$payload" | LC_ALL=C sed -n 's/.*"'"$1"'":"\([^"\\]*\(\\.[^"\\]*\)*\)".*/\1/p' |
		LC_ALL=C sed 's/\\\\/\\u005c/g; s/\\[bfnrt]/ /g; s/\\u00[01]./ /g; s/\\u202[89]/ /g; s/\\"/"/g'
}
plain() { sed 's/\\u003c/</g; s/\\u003e/>/g; s/\\u0026/\&/g; s/\\u005c/\\/g'; }

title="ralph: $RALPH_STATUS after $RALPH_ITERATION of $RALPH_MAX_ITERATIONS iterations"
text="$(field epicId) ($(field exitReason)) $(field task) $(field needs)"
if command -v osascript >/dev/null; then
	exec osascript -e 'on run argv' -e 'display notification (item 2 of argv) with title (item 1 of argv)' -e 'end run' \
		"$title" "$(printf '%s' "$text" | plain)"
fi
# Its text is a little markup, so < > & go there as entities.
exec notify-send -a ralph-stop-hook -- "$title" \
	"$(printf '%s' "$text" | sed 's/\\u003c/\&lt;/g; s/\\u003e/\&gt;/g; s/\\u0026/\&amp;/g; s/\\u005c/\\/g')"
