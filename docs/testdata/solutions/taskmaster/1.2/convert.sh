#!/bin/sh
# convert.sh VALUE UNIT prints the value in the other unit.
test $# = 2 || { echo "usage: convert.sh VALUE UNIT"; exit 64; }
case $2 in C | F) ;; *) echo "unknown unit: $2"; exit 64 ;; esac
