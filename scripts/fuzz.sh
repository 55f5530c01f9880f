#!/bin/sh
# Runs each fuzz test for so long, one after the other: fuzz.sh 20s
set -eu
time=$1
for dir in $(git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u); do
	for test in $(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | cut -d' ' -f2); do
		echo "fuzz $dir $test"
		go test -run '^$' -fuzz "^$test\$" -fuzztime "$time" "./$dir"
	done
done
