// Command runtests runs go test, and says how far it is.
//
//	runtests -race -timeout 10m -- ./...
//
// The flags go to go test, the packages after -- are tested, those that take longest first. As each package ends, its
// line is printed as go test prints it, on stdout, and on stderr how many are done and how long that took. A failure is
// shown in full when it happens, and again at the end, before the lines of the packages that failed.
//
// Tests that failed while the machine was busy, with other packages too, run again when all else is done, each package
// by itself, and have failed if they do so again. On a machine that was not busy, what fails has failed; and a data
// race, a panic, or a package that did not end has failed on any. The exit code is that of go test otherwise.
//
// A test that runs again, here or as an attempt of package pace, is told in one line, and the run ends with a list.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// quiet is for how long nothing may be said: people wonder whether it hangs.
const quiet = 30 * time.Second

func main() {
	if len(os.Args) == 2 && os.Args[1] == burnWord {
		burn()
		return
	}
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "runtests:", err)
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	flags, packages, err := split(args)
	if err != nil {
		return 2, err
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // go test hears it too, and ends first
	packages, err = list(packages)
	if err != nil {
		return 2, err
	}
	r := newReport(os.Stdout, os.Stderr, len(packages))
	r.load = new(load)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go r.load.watch(ctx)
	err = test(r, slices.Concat([]string{"test", "-json"}, flags, longFirst(packages)))
	if isFailure(err) && r.ended == r.total && r.repeat(flags) {
		err = nil
	}
	r.close()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(1, exit.ExitCode()), nil // a signal is -1
	}
	if err != nil {
		return 2, err
	}
	return 0, nil
}

func split(args []string) (flags, packages []string, err error) {
	i := slices.Index(args, "--")
	if i < 0 || i == len(args)-1 {
		return nil, nil, errors.New("no packages; use it as runtests FLAGS -- PACKAGES")
	}
	return args[:i], args[i+1:], nil
}

// list returns the paths of packages.
func list(packages []string) ([]string, error) {
	cmd := exec.Command("go", append([]string{"list"}, packages...)...)
	cmd.Stderr = os.Stderr
	paths, err := cmd.Output()
	return strings.Fields(string(paths)), err
}

// test runs go test and reports what it does.
func test(r *report, args []string) error {
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	follow(r, lines(bufio.NewReader(out)))
	return cmd.Wait()
}

// lines sends each line of r, until the end.
func lines(r *bufio.Reader) <-chan string {
	out := make(chan string)
	go func() { // ends with r
		defer close(out)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				out <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

// follow reports each line, and how far it is when there is nothing to say for long.
func follow(r *report, lines <-chan string) {
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return
			}
			r.line(line)
		case <-time.After(quiet - time.Since(r.spoke)):
			r.progress()
		}
	}
}
