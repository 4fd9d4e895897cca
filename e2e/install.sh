#!/bin/sh
# Installs the client that the end-to-end scripts drive into e2e/.client, which
# git ignores: it is too large for a repository. Does nothing if it is there.
#
# Exit status: 0 installed, 75 the npm registry does not answer, 1 anything else.
set -eu
cd "$(dirname "$0")"

version=2.1.329

# The version is written last, so that an install that was cut off is repeated.
if [ "$(cat .client/version 2>/dev/null)" = "$version" ]; then
	exit 0
fi

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) os=$(uname -s) ;;
esac
case $(uname -m) in
x86_64) arch=x64 ;;
aarch64 | arm64) arch=arm64 ;;
*) arch=$(uname -m) ;;
esac

command -v npm >/dev/null || {
	echo "e2e: npm is needed to install the client" >&2
	exit 1
}

# The platform's own package holds the whole client, a native binary. The
# package without a platform would only add a wrapper for Node, and npm does
# not say so when it could not fetch one of its optional dependencies.
rm -rf .client
mkdir .client
if ! npm install --prefix .client --no-save --no-package-lock --ignore-scripts --no-audit --no-fund \
	"@anthropic-ai/claude-code-$os-$arch@$version" >.client/npm.log 2>&1; then
	if grep -Eq 'code (ENOTFOUND|EAI_AGAIN|ECONN[A-Z]+|ETIMEDOUT|E[A-Z_]+TIMEOUT|EHOSTUNREACH|ENETUNREACH|E50[234])$|network timeout' .client/npm.log; then
		echo "e2e: skipped: the npm registry does not answer" >&2
		exit 75
	fi
	cat .client/npm.log >&2
	exit 1
fi
".client/node_modules/@anthropic-ai/claude-code-$os-$arch/claude" --version
echo "$version" >.client/version
