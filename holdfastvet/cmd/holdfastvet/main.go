// Holdfastvet finds mistakes in programs that use Holdfast, by itself or for go vet:
//
//	holdfastvet ./...
//	go vet -vettool=$(which holdfastvet) ./...
//
// The checks are described in docs/vet.md, and by holdfastvet help.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/holdfast-go/holdfast/holdfastvet"
)

func main() { multichecker.Main(holdfastvet.Analyzers...) }
