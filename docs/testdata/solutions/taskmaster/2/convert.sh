#!/bin/sh
# convert.sh VALUE UNIT prints the value in the other unit.
test $# = 2 || { echo "usage: convert.sh VALUE UNIT"; exit 64; }
case $2 in C | F) ;; *) echo "unknown unit: $2"; exit 64 ;; esac
case $1 in *[!0-9-]*) echo "not a number: $1"; exit 64 ;; esac
test "$2" = F || echo "$(($1 * 9 / 5 + 32)) F"
