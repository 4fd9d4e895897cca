#!/bin/sh
# A comment on an issue of the project's GitHub repository, by gh.
# To configure: gh auth login, and name the issue, as an argument:
#   "on_complete": [["sh", "github.sh", "42"]]
set -eu
issue=${1:?name the issue to comment on, as an argument}
payload=$(cat)

# field prints the text of a key of the payload, which is one line, as the inside of a JSON string.
field() {
	printf '%s\n' "$payload" | LC_ALL=C sed -n 's/.*"'"$1"'":"\([^"\\]*\(\\.[^"\\]*\)*\)".*/\1/p' |
		LC_ALL=C sed 's/\\\\/\\u005c/g; s/\\[bfnrt]/ /g'
}
# Indented, it is shown as it is: no markup, no mention of anybody.
printf '{"body":"**ralph: %s** after %s of %s iterations\\n\\n    %s (%s)\\n    %s\\n    %s"}' \
	"$RALPH_STATUS" "$RALPH_ITERATION" "$RALPH_MAX_ITERATIONS" "$(field epicId)" "$(field exitReason)" "$(field task)" "$(field needs)" |
	gh api --silent --method POST "repos/{owner}/{repo}/issues/$issue/comments" --input -
