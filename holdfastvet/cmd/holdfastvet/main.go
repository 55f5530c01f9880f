// Holdfastvet finds mistakes in programs that use Holdfast, by itself or for go vet:
//
//	holdfastvet ./...
//	go vet -vettool=$(which holdfastvet) ./...
//
// The checks are described in docs/vet.md, and by holdfastvet help.
package main

import (
	"flag"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/holdfast-go/holdfast/holdfastvet"
)

func main() {
	multichecker.Main(append(holdfastvet.Analyzers, onRequest(holdfastvet.WriteWithoutToken))...)
}

// onRequest has a check run only if its flag is given. Without such flags all checks run otherwise.
func onRequest(check *analysis.Analyzer) *analysis.Analyzer {
	asked := *check
	asked.Run = func(pass *analysis.Pass) (any, error) {
		if flag.Lookup(check.Name).Value.(flag.Getter).Get() != true {
			return nil, nil
		}
		return check.Run(pass)
	}
	return &asked
}
