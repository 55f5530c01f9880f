#!/bin/sh
# Shows a bug: runs a test of the commit that mended it on the tree before that. It should fail.
#
#   scripts/before.sh COMMIT TEST [PACKAGE]
#
# The file with the test is taken over, and what the commit changed in packages that tests are made with; where that does not
# compile, all that it changed in tests. PACKAGE is the folder that has the test, where the commit changed no file with it, or
# changed two with a test of that name.
set -eu
commit=$1 name=$2
top=$(git rev-parse --show-toplevel)
folder=$(mktemp -d)
trap 'git -C "$top" worktree remove --force "$folder"' EXIT
git -C "$top" worktree add --quiet --detach "$folder" "$commit^"
cd "$folder"
changed() { git diff --name-only --diff-filter=d "$commit^" "$commit" | grep -E "$1" || true; }
takeover() { # FILE...
	[ $# -eq 0 ] || git checkout --quiet "$commit" -- "$@"
}
kits=$(changed '(test/[a-z_]+|/(proxy|servers|opened)/[a-z_]+)\.go$|testdata/')
tests=$(changed '_test\.go$')
# shellcheck disable=SC2086
takeover $kits
file=$(for f in $(echo "$tests" | grep "^${3:-}"); do git show "$commit:$f" | grep -q "^func ${name%%/*}(" && echo "$f"; done | head -n 1)
# shellcheck disable=SC2086
takeover $file
package=${3:-$(dirname "$file")}
(cd "$package" && go vet ./... >/dev/null 2>&1) || takeover $tests
cd "$package"
go test -vet=off -count=1 -timeout 3m -run "^$(echo "$name" | sed 's,/,$/^,g')\$" .
