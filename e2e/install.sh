#!/bin/sh
# Installs a client that the end-to-end scripts drive, by default claude, into
# e2e/.client/NAME, which git ignores: it is too large for a repository. Does
# nothing if it is there. The program is then e2e/.client/NAME/bin/NAME.
#
# usage: e2e/install.sh [claude|codex|copilot|gemini|opencode|qwen] [VERSION]
#
# A VERSION other than the usual one goes into e2e/.client/NAME-VERSION.
#
# Exit status: 0 installed, 75 the npm registry does not answer, 1 anything else.
set -eu
cd "$(dirname "$0")"

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

# Where a platform has a package of its own, that holds the whole client, a
# native binary. The package without a platform would only add a wrapper for
# Node, and npm does not say so when it could not fetch one of its optional
# dependencies.
name=${1:-claude}
case $name in
claude)
	version=2.1.329
	package=@anthropic-ai/claude-code-$os-$arch
	program=$package/claude
	;;
codex)
	version=0.169.0
	package=@openai/codex
	program=.bin/codex
	;;
copilot)
	version=1.0.102
	package=@github/copilot-$os-$arch
	program=$package/copilot
	;;
gemini)
	version=0.61.0
	package=@google/gemini-cli
	program=.bin/gemini
	;;
opencode)
	version=1.18.33
	package=opencode-$os-$arch
	program=$package/bin/opencode
	;;
qwen)
	version=0.24.4
	package=@qwen-code/qwen-code
	program=.bin/qwen
	;;
*)
	echo "e2e: there is no client $name" >&2
	exit 1
	;;
esac
dir=.client/$name
if [ "${2:-$version}" != "$version" ]; then
	version=$2
	dir=.client/$name-$version
fi

# The version is written last, so that an install that was cut off is repeated.
if [ "$(cat "$dir/version" 2>/dev/null)" = "$version" ]; then
	exit 0
fi

command -v npm >/dev/null || {
	echo "e2e: npm is needed to install the client $name" >&2
	exit 1
}

rm -rf "$dir"
mkdir -p "$dir/bin"
if ! npm install --prefix "$dir" --no-save --no-package-lock --ignore-scripts --no-audit --no-fund \
	--fetch-retries=1 --fetch-timeout=60000 "$package@$version" >"$dir/npm.log" 2>&1; then
	if grep -Eq 'code (ENOTFOUND|EAI_AGAIN|ECONN[A-Z]+|ETIMEDOUT|E[A-Z_]+TIMEOUT|EHOSTUNREACH|ENETUNREACH|E50[234])$|network timeout' "$dir/npm.log"; then
		echo "e2e: $name is skipped: the npm registry does not answer" >&2
		exit 75
	fi
	cat "$dir/npm.log" >&2
	exit 1
fi
ln -s "../node_modules/$program" "$dir/bin/$name"
"$dir/bin/$name" --version | grep -F "$version"
echo "$version" >"$dir/version"
