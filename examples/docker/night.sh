#!/bin/sh
# Runs ralph-runner in a container, for the project in this folder. The arguments are those of ralph-runner.
#
# The project has the same path in the container as outside, and the record is the person's own: so a run can be
# watched, steered and continued from outside. The agent gets keys of its provider, and nothing else of the home.
set -eu
state=${RALPH_STATE_DIR:-${XDG_STATE_HOME:-$HOME/.local/state}/ralph-stop-hook}
mkdir -p "$state"
exec docker run --rm --init --cap-drop ALL --security-opt no-new-privileges --pids-limit 2000 \
	-v "$PWD:$PWD" -w "$PWD" -v "$state:$state" -e RALPH_STATE_DIR="$state" \
	-e ANTHROPIC_API_KEY -e CLAUDE_CODE_OAUTH_TOKEN ralph "$@"
