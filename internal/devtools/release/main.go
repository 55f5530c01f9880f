// Release makes a version of all modules that people get, from a clean checkout:
//
//	release VERSION           check it, and show what would be done
//	release VERSION --tag     do it in this clone, and print what to push
//	release publish VERSION FOLDER
//
// A release is one commit, in which our modules require each other at the new version, with a tag for each module.
// Nothing is pushed. Publish writes the modules as they lie into a folder, as a module proxy would give them;
// tests import from there.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/holdfast-go/holdfast/internal/devtools/tree"
)

const usage = "usage: release VERSION [--tag], or release publish VERSION FOLDER"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	top, err := tree.Top()
	switch {
	case err != nil:
		return err
	case len(args) == 3 && args[0] == "publish":
		return publish(top, args[1], args[2])
	case len(args) == 1 && args[0] != "publish":
		return release(top, args[0], false, out)
	case len(args) == 2 && args[1] == "--tag":
		return release(top, args[0], true, out)
	default:
		return errors.New(usage)
	}
}
