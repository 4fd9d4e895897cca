#!/bin/sh
# A push message to a phone, by ntfy.sh or a server of your own.
# To configure: in ~/.config/ralph-stop-hook/ntfy (chmod 600), for curl to read:
#   url = "https://ntfy.sh/a-topic-that-nobody-guesses"
#   header = "Authorization: Bearer TOKEN"       (where the server wants one)
set -eu
secret=$HOME/.config/ralph-stop-hook/ntfy
payload=$(cat)

# field prints the text of a key of the payload, which is one line, cleaned by the hook.
field() {
	printf '%s\n' "$payload" | LC_ALL=C sed -n 's/.*"'"$1"'":"\([^"\\]*\(\\.[^"\\]*\)*\)".*/\1/p' |
		LC_ALL=C sed 's/\\\\/\\u005c/g; s/\\[bfnrt]/ /g; s/\\u00[01]./ /g; s/\\u202[89]/ /g; s/\\"/"/g' |
		sed 's/\\u003c/</g; s/\\u003e/>/g; s/\\u0026/\&/g; s/\\u005c/\\/g'
}
case $RALPH_STATUS in
completed) tag=white_check_mark ;;
*) tag=warning ;;
esac

if [ -n "$(find "$secret" \( -perm -040 -o -perm -004 \))" ]; then
	echo "$secret can be read by others; say: chmod 600 $secret" >&2
	exit 1
fi
# What people wrote is in the body, never in a header.
printf '%s (%s) %s %s' "$(field epicId)" "$(field exitReason)" "$(field task)" "$(field needs)" |
	curl -fsS --max-time 20 -o /dev/null -K "$secret" -H 'Content-Type: text/plain; charset=utf-8' -H "Tags: $tag" \
		-H "Title: ralph: $RALPH_STATUS after $RALPH_ITERATION of $RALPH_MAX_ITERATIONS iterations" --data-binary @-
