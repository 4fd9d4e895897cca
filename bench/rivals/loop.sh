#!/usr/bin/env bash
# The benchmark's outer loop in bash. Around each session it does with jq what such loops do: it takes the next feature
# from the list, makes a prompt, keeps what the agent prints, reads the result and the cost from that, and adds up. It
# has no lock, no flush, no checks, no notices, and kills nothing that an agent leaves.
#
#   loop.sh AGENT LIST MAX
set -euo pipefail

agent=$1 list=$2 max=$3
dir=$RALPH_STATE_DIR/rival
mkdir -p "$dir"
echo '{"iteration": 0, "cost": 0}' >"$dir/state.json"

for ((n = 1; n <= max; n++)); do
	fields=$(
		jq -r '([.[] | select(.passes != true)] | min_by(.priority // infinite)) as $next
			| [($next | .id // "", .title // "", .description // ""),
				([.[] | select(.passes == true)] | length), length]
			| map(tostring) | join("\u001f")' "$list"
	)
	IFS=$'\x1f' read -r id title description passed total <<<"$fields"
	if [ -z "$id" ]; then
		echo "COMPLETE after $((n - 1)) iterations"
		exit 0
	fi
	printf 'Iteration %d of %d.\n%s of %s features pass.\n\n  id: %s\n  title: %s\n  description: %s\n\nDo it.\n' \
		"$n" "$max" "$passed" "$total" "$id" "$title" "$description" | "$agent" "$list" >"$dir/$n.log"
	fields=$(jq -r 'select(.type == "result") | [(.is_error | tostring), .total_cost_usd, .result]
		| map(tostring) | join("\u001f")' "$dir/$n.log")
	IFS=$'\x1f' read -r failed cost result <<<"$fields"
	[ "$failed" = false ] || exit 1
	jq --argjson cost "$cost" '.iteration += 1 | .cost += $cost' "$dir/state.json" >"$dir/state.json.new"
	mv "$dir/state.json.new" "$dir/state.json"
	printf 'iteration %d, %s: %s\n' "$n" "$id" "$result" >>"$dir/progress.txt"
done
echo "the limit of $max iterations is reached"
exit 1
