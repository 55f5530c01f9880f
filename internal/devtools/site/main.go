// Site makes a site of the pages of this tree:
//
//	site FOLDER
//
// It is read from a folder, without a server or a network. Nothing is written if a link leads nowhere.
package main

import (
	"fmt"
	"os"

	"github.com/holdfast-go/holdfast/internal/devtools/tree"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site FOLDER")
		os.Exit(2)
	}
	top, err := tree.Top()
	if err == nil {
		err = run(os.DirFS(top), os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("open %s/index.html\n", os.Args[1])
}
