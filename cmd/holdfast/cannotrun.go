package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/child"
)

// cannotRun gives an error of starting a command the exit code that shells use.
func cannotRun(name string, err error) error {
	switch {
	case errors.Is(err, child.ErrUnguarded):
		err = fmt.Errorf("%s: not run, because there is no guard: %w; --no-guard runs it all the same", name, err)
		return &exit{code: exitCannotRun, err: err}
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return &exit{code: exitNotFound, err: fmt.Errorf("%s: %s", name, notFound(err))}
	case errors.Is(err, syscall.ENOEXEC):
		return &exit{code: exitCannotRun, err: fmt.Errorf("%s: it is not a program; its first line should be #! and "+
			"its interpreter", name)}
	default:
		return &exit{code: exitCannotRun, err: fmt.Errorf("%s: it cannot be run: %w", name, err)}
	}
}

// notFound says what was not found: the command or, where that is there, what it needs to be started.
func notFound(err error) string {
	var path string
	if start, ok := errors.AsType[*fs.PathError](err); ok {
		path = start.Path
	}
	f, err := os.Open(path)
	if err != nil {
		return "command not found"
	}
	defer f.Close()
	if name, ok := interpreter(f); ok {
		return fmt.Sprintf("the interpreter that its first line names, %q, was not found", name)
	}
	return "the loader that it needs was not found; it may be for another system"
}

// firstLine is how much of a script the system reads to find its interpreter.
const firstLine = 256

// interpreter returns the program that a script names in its first line.
func interpreter(script io.Reader) (name string, ok bool) {
	line, _ := bufio.NewReader(io.LimitReader(script, firstLine)).ReadString('\n') // what there is of it counts
	line, ok = strings.CutPrefix(strings.TrimSuffix(line, "\n"), "#!")
	name, _, _ = strings.Cut(strings.TrimLeft(line, " \t"), " ")
	return name, ok
}
