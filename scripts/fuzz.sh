#!/bin/sh
# Runs each fuzz test for so long, one after the other: fuzz.sh 20s
set -eu
time=$1
for file in $(git grep -l '^func Fuzz' -- '*_test.go'); do
	for test in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		dir=$(dirname "$file")
		echo "fuzz $dir $test"
		go test -run '^$' -fuzz "^$test\$" -fuzztime "$time" "./$dir"
	done
done
