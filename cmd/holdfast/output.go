package main

import (
	"errors"
	"io/fs"
	"syscall"
)

// unwritten gives an error of writing standard output its exit code, or returns nil if err is none. A reader that is
// gone ends the command without a word, as SIGPIPE does where it is not caught.
func (a *app) unwritten(err error) error {
	failed, ok := errors.AsType[*fs.PathError](err)
	switch {
	case !ok || failed.Op != "write" || failed.Path != a.out.Name():
		return nil
	case errors.Is(failed, syscall.EPIPE):
		return ended(exitSignal + int(syscall.SIGPIPE))
	default:
		return fail("%w", err)
	}
}
