#!/bin/sh
# gofmt, go vet for three systems, staticcheck, and modules that are tidy. Says all that is wrong, and fails then.
set -eu
root=$(pwd)
bad=0
complain() {
	echo "lint: $*" >&2
	bad=1
}

unformatted=$(git ls-files --cached --others --exclude-standard '*.go' | xargs gofmt -l)
[ -z "$unformatted" ] || complain "gofmt would change:" $unformatted

# The tools have a module of their own, outside the workspace, so that nobody who uses Holdfast sees what they need.
GOWORK=off go -C internal/devtools build -o "$root/bin/staticcheck" honnef.co/go/tools/cmd/staticcheck

# The library and the command are for all of these; the lab runs where the servers do.
systems() {
	case $1 in
	lab) echo linux ;;
	*) echo linux darwin windows ;;
	esac
}

for module in $(go list -m -f '{{.Dir}}'); do
	name=${module#"$root"}
	name=${name#/}
	echo "lint ${name:-.}"
	cd "$module"
	for system in $(systems "$name"); do
		GOOS=$system CGO_ENABLED=0 go vet ./... || complain "${name:-.}: go vet for $system"
	done
	"$root/bin/staticcheck" ./... || complain "${name:-.}: staticcheck"
done

# -e: what only the tests of others' packages need may be out of reach.
cd "$root"
for mod in $(git ls-files '*go.mod'); do
	dir=$(dirname "$mod")
	change=$(GOWORK=off go -C "$dir" mod tidy -e -diff 2>/dev/null) ||
		complain "$mod or go.sum is not tidy; run there: GOWORK=off go mod tidy -e
$change"
done
exit $bad
