#!/bin/sh
# An e-mail, by sendmail or what stands in for it (msmtp, postfix, exim).
# To configure: name the one to write to, as an argument:
#   "on_complete": [["sh", "email.sh", "you@example.com"]]
# A password for a server is msmtp's: ~/.msmtprc, which it wants to be yours alone.
set -eu
to=${1:?name the address to write to, as an argument}
payload=$(cat)

# field prints the text of a key of the payload, which is one line, cleaned by the hook.
field() {
	printf '%s\n' "$payload" | LC_ALL=C sed -n 's/.*"'"$1"'":"\([^"\\]*\(\\.[^"\\]*\)*\)".*/\1/p' |
		LC_ALL=C sed 's/\\\\/\\u005c/g; s/\\[bfnrt]/ /g; s/\\u00[01]./ /g; s/\\u202[89]/ /g; s/\\"/"/g' |
		sed 's/\\u003c/</g; s/\\u003e/>/g; s/\\u0026/\&/g; s/\\u005c/\\/g'
}
# number prints a number of the payload.
number() { printf '%s\n' "$payload" | LC_ALL=C sed -n 's/.*"'"$1"'":\([0-9][0-9]*\).*/\1/p'; }
PATH=$PATH:/usr/sbin:/usr/lib
sendmail=$(command -v sendmail || command -v msmtp) || {
	echo "neither sendmail nor msmtp is installed" >&2
	exit 1
}
# What people wrote is in the body, in base64, never in a header.
{
	printf 'To: %s\nSubject: ralph: %s after %s of %s iterations\n' "$to" "$RALPH_STATUS" "$RALPH_ITERATION" "$RALPH_MAX_ITERATIONS"
	printf 'MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n'
	seconds=$(number durationSec)
	report=$(field report) # a run has written one; the hook alone writes none
	{
		printf '%s (%s)\n%s\n%s\n%s\n\n' "$(field epicId)" "$(field exitReason)" "$(field task)" "$(field needs)" "$RALPH_WORK_DIR"
		printf 'features  %s proven, %s claimed, of %s\n' "$(number proven)" "$(number claimed)" "$(number total)"
		printf 'time      %s min\n%s' "$((${seconds:-0} / 60))" "${report:+report    $report
}"
	} | base64 | fold -w 76
} | "$sendmail" -i -- "$to"
