#!/bin/sh
# A sound: one for a loop that is complete, another for one that wants you.
# To configure: nothing.
set -eu
case $RALPH_STATUS in
completed) mac=Glass linux=complete ;;
*) mac=Basso linux=dialog-warning ;;
esac
if command -v afplay >/dev/null; then
	exec afplay "/System/Library/Sounds/$mac.aiff"
fi
sound=/usr/share/sounds/freedesktop/stereo/$linux.oga
for player in pw-play paplay; do
	if command -v $player >/dev/null; then
		exec $player "$sound"
	fi
done
echo "none of afplay, pw-play and paplay is installed" >&2
exit 1
