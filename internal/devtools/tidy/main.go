// Tidy holds the go.mod and go.sum files of this tree to what go mod tidy makes of them, where no version of ours is
// published:
//
//	tidy check
//	tidy write
//
// Each module is tidied alone, outside the workspace, with the others as they are in this tree. Write also ties our
// modules together in go.work.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/holdfast-go/holdfast/internal/devtools/tree"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] != "check" && os.Args[1] != "write" {
		fmt.Fprintln(os.Stderr, "usage: tidy check|write")
		os.Exit(2)
	}
	top, err := tree.Top()
	if err == nil {
		err = run(top, os.Args[1] == "write")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run looks at all modules before it complains, and at those outside the workspace too.
func run(top string, write bool) error {
	if write {
		if err := tree.Tie(top); err != nil {
			return err
		}
	}
	faults, err := tree.Faults(top)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range faults {
		errs = append(errs, errors.New(f))
	}
	folders, err := folders(top)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		errs = append(errs, module(top, folder, write))
	}
	return errors.Join(errs...)
}
