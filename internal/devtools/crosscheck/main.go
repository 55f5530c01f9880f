// Crosscheck says what keeps packages from being built on other systems, their tests too:
//
//	crosscheck SYSTEM,... PACKAGE...
//
// It reads the types of everything from source, and the bodies of our functions. To vet or build for another system
// would compile the standard library and all dependencies for it first, which takes many times as long.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/holdfast-go/holdfast/internal/devtools/source"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck SYSTEM,... PACKAGE...")
		os.Exit(2)
	}
	bad := false
	for _, system := range strings.Split(os.Args[1], ",") {
		problems, err := check(system, os.Args[2:])
		if err != nil {
			fmt.Fprintf(os.Stderr, "crosscheck: %s: %v\n", system, err)
			os.Exit(1)
		}
		for _, p := range problems {
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, p)
			bad = true
		}
	}
	if bad {
		os.Exit(1)
	}
}

func check(system string, patterns []string) (problems []string, err error) {
	loaded, err := source.Load(system, true, patterns)
	if err != nil {
		return nil, err
	}
	for _, p := range loaded { // those that were named; what they import is whole only as far as they need it
		for _, e := range p.Errors {
			if !isTestMain(p) {
				problems = append(problems, e.Error())
			}
		}
	}
	return problems, nil
}

// isTestMain reports whether a package is the program that the go command writes to run tests.
func isTestMain(p *packages.Package) bool {
	return p.Name == "main" && strings.HasSuffix(p.ID, ".test")
}
