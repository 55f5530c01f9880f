#!/bin/sh
# gofmt, go vet, staticcheck, our own checks, types on other systems, and modules that are tidy. Says all that is wrong, and
# fails then.
set -eu
root=$(pwd)
bad=0
complain() {
	echo "lint: $*" >&2
	bad=1
}

# The tools have a module of their own, outside the workspace, so that nobody who uses Holdfast sees what they need.
tool() {
	GOWORK=off go -C internal/devtools build -o "$root/bin/" "$1"
}

echo "lint: gofmt"
unformatted=$(git ls-files --cached --others --exclude-standard '*.go' | xargs gofmt -l)
# shellcheck disable=SC2086
[ -z "$unformatted" ] || complain "gofmt would change:" $unformatted

packages=$(go list -m -f '{{.Dir}}/...')

# With the race detector, as in the tests: then what both import is compiled once.
echo "lint: go vet"
# shellcheck disable=SC2086
go vet -race $packages || complain "go vet"
GOWORK=off go -C internal/devtools vet ./... || complain "go vet in internal/devtools"
GOWORK=off go -C internal/devtools test -vet=off ./... || complain "tests of internal/devtools"

echo "lint: staticcheck"
tool honnef.co/go/tools/cmd/staticcheck
# shellcheck disable=SC2086
GOFLAGS="${GOFLAGS:-} -race" bin/staticcheck $packages || complain "staticcheck"

echo "lint: holdfastvet"
go build -o bin/holdfastvet ./holdfastvet/cmd/holdfastvet
# shellcheck disable=SC2086
go vet -race -vettool="$root/bin/holdfastvet" $packages || complain "holdfastvet"

# The library and the command are for these too; the other modules run where the servers do.
echo "lint: macOS and Windows"
tool ./crosscheck
seen=$(sh scripts/seen.sh)
# shellcheck disable=SC2086
bin/crosscheck darwin,windows $seen || complain "other systems"

echo "lint: what others see"
tool ./surface
# shellcheck disable=SC2086
bin/surface check internal/devtools/surface $seen || complain "exported names, their comments, or dependencies"

echo "lint: width of lines, and old words"
go test -vet=off ./internal/style >&2 || complain "style"

echo "lint: modules"
tool ./tidy
bin/tidy check || complain "modules"
exit $bad
