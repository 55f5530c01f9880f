// Command runtests runs go test, and says how far it is.
//
//	runtests -timeout 10m -- ./...        as make test does
//	runtests -long -timeout 10m -- ./...  as make test-long does
//
// The flags go to go test, the packages after -- are tested, those that take longest first; see groups.go for which of
// them have the race detector. What is compiled is told from the first second on. As each package ends, its line is
// printed as go test prints it, on stdout, and on stderr how many are done and how long that took. A failure is shown
// in full when it happens, and again at the end, before the lines of the packages that failed.
//
// Tests that failed while the machine was busy, with other packages too, run again when all else is done, each package
// by itself, and have failed if they do so again. On a machine that was not busy, what fails has failed; and a data
// race, a panic, or a package that did not end has failed on any. The exit code is that of go test otherwise.
//
// The run ends with how many tests ran and how many were skipped, with the reasons, and with what ran again, here or as
// an attempt of package pace.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"time"
)

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
	groups, flags, err := sorted(flags, packages)
	if err != nil {
		return 2, err
	}
	r := newReport(os.Stdout, os.Stderr, size(groups))
	r.load = new(load)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go r.load.watch(ctx)
	err = test(r, groups)
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

// sorted returns the groups to run, and the flags for what runs again: always with the race detector, which hides
// nothing.
func sorted(flags, packages []string) (groups []group, again []string, err error) {
	flags, isLong := cut(flags, "-long")
	all, err := list(packages)
	if err != nil {
		return nil, nil, err
	}
	all = longFirst(all)
	if !isLong {
		return usual(all, flags), flags, nil
	}
	if err := os.Setenv("HOLDFAST_LONG", "1"); err != nil {
		return nil, nil, err
	}
	groups, err = long(all, flags)
	return groups, slices.Concat([]string{"-race"}, flags), err
}

// cut takes a flag out.
func cut(flags []string, flag string) (rest []string, found bool) {
	i := slices.Index(flags, flag)
	if i < 0 {
		return flags, false
	}
	return slices.Delete(slices.Clone(flags), i, i+1), true
}

func size(groups []group) (n int) {
	for _, g := range groups {
		n += len(g.packages)
	}
	return n
}

func split(args []string) (flags, packages []string, err error) {
	i := slices.Index(args, "--")
	if i < 0 || i == len(args)-1 {
		return nil, nil, errors.New("no packages; use it as runtests FLAGS -- PACKAGES")
	}
	return args[:i], args[i+1:], nil
}

// test runs all groups at once, and reports what they do. The error is the first of a group.
func test(r *report, groups []group) error {
	said := make(chan string) // what the groups tell, a line each
	ended := make(chan error)
	for _, g := range groups {
		go func() { ended <- g.run(said) }()
	}
	var first error
	for left := len(groups); left > 0; {
		select {
		case line := <-said:
			r.line(line)
		case err := <-ended:
			left--
			first = cmp.Or(first, err)
		case <-time.After(r.patience()):
			r.progress()
		}
	}
	return first
}

// run runs go test, which tells in JSON what it compiles, because of -x, and what becomes of tests.
func (g group) run(said chan<- string) error {
	cmd := exec.Command("go", slices.Concat([]string{"test", "-json", "-x"}, g.flags, g.packages)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	each(out, func(line string) { said <- line })
	return cmd.Wait()
}

// each calls f with each line, until the end.
func each(r io.Reader, f func(line string)) {
	for b := bufio.NewReader(r); ; {
		line, err := b.ReadString('\n')
		if line != "" {
			f(line)
		}
		if err != nil {
			return
		}
	}
}
