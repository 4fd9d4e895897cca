#!/bin/sh
# convert.sh VALUE UNIT prints the value in the other unit.
test $# = 2 || { echo "usage: convert.sh VALUE UNIT"; exit 64; }
