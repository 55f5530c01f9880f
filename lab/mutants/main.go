// Mutants breaks the drivers on purpose, one fault at a time, and fails if a driver's tests do not notice.
//
//	go run ./lab/mutants [DRIVER...]
//
// A fault is a patch in lab/mutants/DRIVER whose first line says what it breaks.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// tests are the tests that must notice, for each driver.
var tests = map[string]string{
	"holdfast":  ".",
	"memlock":   "./memlock/...",
	"sqllock":   "./lab/sqltest/...",
	"redislock": "./redislock/...",
	"etcdlock":  "./etcdlock/...",
	"zklock":    "./zklock/...",
}

// fewest is how many faults each driver must have.
const fewest = 5

// patience is how long the tests may take; tests that hang have noticed.
const patience = 5 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, drivers []string) error {
	if len(drivers) == 0 {
		all, err := filepath.Glob("lab/mutants/*/*.patch")
		if err != nil {
			return err
		}
		for _, p := range all {
			drivers = append(drivers, filepath.Base(filepath.Dir(p)))
		}
		drivers = slices.Compact(drivers)
	}
	var errs []error
	for _, d := range drivers {
		errs = append(errs, runDriver(ctx, d))
	}
	return errors.Join(errs...)
}

// runDriver tries all faults of a driver.
func runDriver(ctx context.Context, name string) error {
	target, ok := tests[name]
	if !ok {
		return fmt.Errorf("%s: no tests are named for it; add it to the table in lab/mutants/main.go", name)
	}
	patches, err := filepath.Glob(filepath.Join("lab/mutants", name, "*.patch"))
	if err != nil || len(patches) < fewest {
		return errors.Join(err, fmt.Errorf("%s has %d faults, want at least %d", name, len(patches), fewest))
	}
	var errs []error
	for _, p := range patches {
		errs = append(errs, runMutant(ctx, name, target, p))
	}
	return errors.Join(errs...)
}

// runMutant applies one fault to a copy of the tree and runs the tests there.
func runMutant(ctx context.Context, driver, target, patch string) error {
	start := time.Now()
	dir, err := copyTree(ctx)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	abs, err := filepath.Abs(patch)
	if err != nil {
		return err
	}
	if out, err := in(ctx, dir, "git", "apply", abs); err != nil {
		return fmt.Errorf("%s does not apply; make it anew: %s", patch, out)
	}
	if out, err := in(ctx, dir, "go", "vet", target); err != nil {
		return fmt.Errorf("%s does not build, which proves nothing: %s", patch, out)
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := in(limited, dir, "go", "test", "-failfast", "-timeout", patience.String(), target)
	by := noticedBy(out)
	fmt.Printf("%-10s %-32s %6.1fs  %s\n", driver, strings.TrimSuffix(filepath.Base(patch), ".patch"), time.Since(start).Seconds(), by)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return fmt.Errorf("%s: the tests stay green", patch)
	case limited.Err() == nil && by == "":
		return fmt.Errorf("%s: the tests ended without saying which failed: %s", patch, out)
	}
	return nil
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^panic: (.*)$`)

// noticedBy is the innermost test that failed first.
func noticedBy(out []byte) string {
	first := ""
	for _, m := range failed.FindAllSubmatch(out, -1) {
		name := string(bytes.Join(m[1:], nil))
		if first != "" && !strings.HasPrefix(name, first) {
			break
		}
		first = name
	}
	return first
}

// copyTree copies the files of the tree, tracked or not but not ignored, to a folder of its own.
func copyTree(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	list, err := in(ctx, ".", "git", "ls-files", "-co", "--exclude-standard", "-z")
	if err != nil {
		return "", fmt.Errorf("git ls-files: %s", list)
	}
	for name := range strings.SplitSeq(strings.Trim(string(list), "\x00"), "\x00") {
		if err := copyFile(dir, name); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func copyFile(dir, name string) error {
	content, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) { // tracked and deleted
		return nil
	}
	if err != nil {
		return err
	}
	to := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}

func in(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}
