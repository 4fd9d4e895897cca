#!/bin/sh
# The test of a task, by its id: test.sh 1.1; without one, all of them.
says() {
	want=$1
	shift
	got=$(sh convert.sh "$@" 2>&1)
	test "$got" = "$want" || { echo "convert.sh $*: '$got', want '$want'"; exit 1; }
}
case ${1:-all} in
1.1 | 1 | all) says 'usage: convert.sh VALUE UNIT' ;;
esac
case ${1:-all} in
1.2 | 1 | all) says 'unknown unit: parsec' 3 parsec ;;
esac
case ${1:-all} in
1 | all) says 'not a number: warm' warm C ;;
esac
case ${1:-all} in
2 | all) says '212 F' 100 C && says '-40 F' -40 C ;;
esac
case ${1:-all} in
3 | all) says '100 C' 212 F ;;
esac
