#!/bin/sh
# Prints what was sold, by day: report.sh FILE, with lines "day item cents".
printf '%-12s %8s\n' day sum
for day in $(cut -d ' ' -f 1 "$1" | sort -u); do
	sum=0
	for cents in $(grep "^$day " "$1" | cut -d ' ' -f 3); do sum=$((sum + cents)); done
	printf '%-12s %5d.%02d\n' $day $((sum / 100)) $((sum % 100))
done
printf '%-12s %8s\n' item sum
for item in $(cut -d ' ' -f 2 "$1" | sort -u); do
	sum=0
	for cents in $(grep " $item " "$1" | cut -d ' ' -f 3); do sum=$((sum + cents)); done
	printf '%-12s %5d.%02d\n' $item $((sum / 100)) $((sum % 100))
done
