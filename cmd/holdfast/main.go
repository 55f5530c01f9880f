// Command holdfast runs commands under distributed locks, and shows and breaks locks. See docs/command.md.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// streams are what a command reads and writes. They are files, because the command that run starts gets them as they
// are.
type streams struct {
	in, out, err *os.File
}
