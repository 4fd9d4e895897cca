#!/bin/sh
# A message in Discord, by a channel's webhook.
# To configure: in ~/.config/ralph-stop-hook/discord (chmod 600), for curl to read:
#   url = "https://discord.com/api/webhooks/NUMBER/TOKEN"
set -eu
secret=$HOME/.config/ralph-stop-hook/discord
payload=$(cat)

# field prints the text of a key of the payload, which is one line, as the inside of a JSON string.
field() {
	printf '%s\n' "$payload" | LC_ALL=C sed -n 's/.*"'"$1"'":"\([^"\\]*\(\\.[^"\\]*\)*\)".*/\1/p' |
		LC_ALL=C sed 's/\\\\/\\u005c/g; s/\\[bfnrt]/ /g'
}
# number prints a number of the payload.
number() { printf '%s\n' "$payload" | LC_ALL=C sed -n 's/.*"'"$1"'":\([0-9][0-9]*\).*/\1/p'; }
# A short table. A run has written a report; the hook alone writes none.
report=$(field report)
seconds=$(number durationSec)
# shellcheck disable=SC2016 # the backquotes begin a block
table=$(printf '\\n```\\nfeatures  %s proven, %s claimed, of %s\\ntime      %s min%s\\n```' "$(number proven)" "$(number claimed)" \
	"$(number total)" "$((${seconds:-0} / 60))" "${report:+\\nreport    $report}")
text=$(printf '**ralph: %s** after %s of %s iterations: %s (%s) %s %s%s' "$RALPH_STATUS" "$RALPH_ITERATION" "$RALPH_MAX_ITERATIONS" \
	"$(field epicId)" "$(field exitReason)" "$(field task)" "$(field needs)" "$table")

if [ -n "$(find "$secret" \( -perm -040 -o -perm -004 \))" ]; then
	echo "$secret can be read by others; say: chmod 600 $secret" >&2
	exit 1
fi
# No text of it mentions anybody.
printf '{"content":"%s","allowed_mentions":{"parse":[]}}' "$text" |
	curl -fsS --max-time 20 -o /dev/null -K "$secret" -H 'Content-Type: application/json' --data-binary @-
