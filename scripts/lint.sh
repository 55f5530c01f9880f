#!/bin/sh
# gofmt, go vet for three systems, staticcheck, and modules that are tidy. Says what is wrong and fails.
set -eu
root=$(pwd)
bad=0
complain() {
	echo "lint: $*" >&2
	bad=1
}

# The library and the command are for all of these; the lab runs where the servers do.
systems() {
	case $1 in
	./lab) echo linux ;;
	*) echo linux darwin windows ;;
	esac
}

unformatted=$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l)
[ -z "$unformatted" ] || complain "gofmt would change: $unformatted"

# The tools have a module of their own, outside the workspace, so that nobody who uses Holdfast sees what they need.
GOWORK=off go -C internal/devtools build -o "$root/bin/staticcheck" honnef.co/go/tools/cmd/staticcheck

for module in $(go list -m -f '{{.Dir}}'); do
	name=${module#"$root"}
	echo "lint .$name"
	cd "$module"
	for system in $(systems ".$name"); do
		GOOS=$system CGO_ENABLED=0 go vet ./... || complain ".$name: go vet for $system"
	done
	"$root/bin/staticcheck" ./... || complain ".$name: staticcheck"
	GOWORK=off go mod tidy -e -diff >/dev/null 2>&1 || complain ".$name: its go.mod is not tidy; run there: GOWORK=off go mod tidy -e"
done
exit $bad
