// Package holdfastvet finds mistakes in programs that use Holdfast: work under a lock that goes on when the lock is
// lost, and locks that nobody gives back. Its checks are analyzers as go vet and golangci-lint run them; the command
// holdfastvet has all of them.
//
//	go install github.com/holdfast-go/holdfast/holdfastvet/cmd/holdfastvet@latest
//	go vet -vettool=$(which holdfastvet) ./...
//
// Another check, WriteWithoutToken, runs only when it is named.
//
// In doubt a check misses a mistake rather than complain about correct code: docs/vet.md says for each what it does not
// report.
package holdfastvet

import "golang.org/x/tools/go/analysis"

// Analyzers are the checks that suit every program.
var Analyzers = []*analysis.Analyzer{LockCtx, LostRelease, ReleaseErr}

// page is where people read about a check.
const page = "https://github.com/holdfast-go/holdfast/blob/main/docs/vet.md"
