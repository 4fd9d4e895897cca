#!/bin/sh
# Prints what was sold, by day: report.sh FILE, with lines "day item cents".

# sum adds up the lines that have a word.
sum() {
	sum=0
	for cents in $(grep -w "$1" "$2" | cut -d ' ' -f 3); do sum=$((sum + cents)); done
}

# row prints what was sold of a day or an item.
row() {
	sum "$1" "$2"
	printf '%-12s %5d.%02d\n' "$1" $((sum / 100)) $((sum % 100))
}

printf '%-12s %8s\n' day sum
for day in $(cut -d ' ' -f 1 "$1" | sort -u); do row "$day" "$1"; done
printf '%-12s %8s\n' item sum
for item in $(cut -d ' ' -f 2 "$1" | sort -u); do row "$item" "$1"; done
