package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// try applies one fault to a copy of the tree and fails if the tests stay green there. Tests that take longer than
// patience have noticed.
func (d driver) try(ctx context.Context, tree, fault string, patience time.Duration) error {
	start := time.Now()
	name := filepath.Join(faultsDir, d.name, fault)
	broken, err := breakCopy(ctx, tree, name)
	defer os.RemoveAll(broken)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	id := d.name + "/" + strings.TrimSuffix(fault, ".patch")
	out, err := d.ask(ctx, tree, broken, d.noticed.of(id), patience)
	by := noticedBy(out)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		d.row(fault, time.Since(start), "NOBODY")
		return fmt.Errorf("%s: the tests stay green", name)
	case by == "":
		return fmt.Errorf("%s: the tests ended without saying which failed: %w\n%s", name, err, out)
	}
	d.row(fault, time.Since(start), by)
	d.noticed.note(id, by)
	return nil
}

// ask runs the test that noticed the fault last, if that is known, and all tests if it stays green, or is not green in
// the tree without the fault: one that needs what others left behind fails alone whatever it is asked about.
func (d driver) ask(ctx context.Context, tree, broken, last string, patience time.Duration) ([]byte, error) {
	if last != "" {
		if out, err := d.test(ctx, broken, patience, only(last)); noticedBy(out) != "" {
			if _, alone := d.test(ctx, tree, patience, only(last)); alone == nil {
				return out, err
			}
		}
	}
	return d.test(ctx, broken, patience)
}

// breakCopy returns the folder of a copy of the tree with a fault in it.
func breakCopy(ctx context.Context, tree, fault string) (string, error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS(tree)); err != nil {
		return dir, err
	}
	if out, err := in(ctx, dir, "git", "apply", "--verbose", fault); err != nil ||
		bytes.Contains(out, []byte("Skipped")) {
		return dir, fmt.Errorf("it does not apply; make it anew: %w\n%s", err, out)
	}
	return dir, nil
}

var errNotBuilt = errors.New("it does not build, which proves nothing")

// test runs the driver's tests, or those that flags choose, up to the first that fails.
func (d driver) test(ctx context.Context, dir string, patience time.Duration, flags ...string) ([]byte, error) {
	packages, usual := split(d.target)
	if out, err := in(ctx, dir, "go", slices.Concat([]string{"vet", "-trimpath"}, packages)...); err != nil {
		return nil, fmt.Errorf("%w: %s", errNotBuilt, out)
	}
	test := []string{"test", "-trimpath", "-failfast", "-count=1", "-timeout", patience.String()}
	return in(ctx, dir, "go", slices.Concat(test, packages, usual, flags)...)
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^(panic: .*)$`)

// noticedBy is the innermost of the tests that failed first.
func noticedBy(out []byte) string {
	first := ""
	for _, m := range failed.FindAllSubmatch(out, -1) {
		name := string(bytes.Join(m[1:], nil))
		if first != "" && !strings.HasPrefix(name, first+"/") {
			break
		}
		first = name
	}
	return first
}

// in runs a command in a folder, with all that it starts, and ends all of it with the context.
func in(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOLDFAST_NO_SKIP=1", "HOLDFAST_LONG=1",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.CombinedOutput()
}
