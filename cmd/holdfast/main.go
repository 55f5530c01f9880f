// Command holdfast runs commands under distributed locks, and shows and breaks locks. See docs/command.md.
package main

import (
	"context"
	"os"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/guard"
)

func main() {
	if guard.Asked(os.Args) {
		os.Exit(guard.Main(os.Args))
	}
	os.Exit(run(context.Background(), os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// streams are what a command reads and writes. They are files, because the command that run starts gets them as they
// are.
type streams struct {
	in, out, err *os.File
}
