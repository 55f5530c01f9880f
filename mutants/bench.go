package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A bench builds a driver's tests with a mutant in them, and runs them.
type bench struct {
	tree     string
	dir      string // for what is made here
	packages []testPackage
	args     []string // of the tests
	patience time.Duration
}

// A testPackage is one whose tests must notice.
type testPackage struct {
	ImportPath string
	Dir        string
	sum        [sha256.Size]byte        // of its tests without a mutant
	took       map[string]time.Duration // how long each of these took
	unbroken   string                   // the binary of these
	alone      map[string]bool          // whether a test is green there when it runs alone, where that was tried
	killers    []string                 // its tests that killed a mutant, those that did so last first
}

// asked is how many killers are asked before all tests.
const asked = 8

// note remembers the test that killed a mutant.
func (p *testPackage) note(test string) {
	others := slices.DeleteFunc(p.killers, func(other string) bool { return other == test })
	p.killers = append([]string{test}, others...)
	p.killers = p.killers[:min(asked, len(p.killers))]
}

// newBench makes one for a target as the table of tests has it, whose tests have shown that they are green.
func newBench(ctx context.Context, tree, target string, patience time.Duration) (b *bench, err error) {
	b = &bench{patience: patience}
	if b.tree, err = filepath.EvalSymlinks(tree); err != nil {
		return nil, err
	}
	packages, flags := split(target)
	for _, flag := range flags {
		b.args = append(b.args, strings.Replace(flag, "-", "-test.", 1))
	}
	if b.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return nil, err
	}
	if err := b.prepare(ctx, packages); err != nil {
		os.RemoveAll(b.dir)
		return nil, fmt.Errorf("%s, without any mutant: %w", target, err)
	}
	return b, nil
}

// prepare finds the tests, and has them show that they are green and how long that takes.
func (b *bench) prepare(ctx context.Context, packages []string) error {
	if err := b.list(ctx, packages); err != nil {
		return err
	}
	start := time.Now()
	if out, err := b.baseline(ctx); err != nil {
		return fmt.Errorf("tests that fail prove nothing: %w\n%s", err, out)
	}
	if b.patience == 0 {
		b.patience = 30*time.Second + 3*time.Since(start)
	}
	return nil
}

// list finds the packages that have tests.
func (b *bench) list(ctx context.Context, packages []string) error {
	format := `{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}`
	out, err := in(ctx, b.tree, "go", slices.Concat([]string{"list", "-f", format}, packages)...)
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if path, dir, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			b.packages = append(b.packages, testPackage{ImportPath: path, Dir: dir})
		}
	}
	if len(b.packages) == 0 {
		return fmt.Errorf("%q have no tests", packages)
	}
	return nil
}

func (b *bench) baseline(ctx context.Context) ([]byte, error) {
	for i := range b.packages {
		p := &b.packages[i]
		binary, out, err := b.build(ctx, p, "")
		if err != nil {
			return out, err
		}
		if p.sum, err = sumOf(binary); err != nil {
			return nil, err
		}
		p.unbroken, p.alone = filepath.Join(b.dir, fmt.Sprint("unbroken", i)), make(map[string]bool)
		if err := os.Rename(binary, p.unbroken); err != nil {
			return nil, err
		}
		if out, err = b.run(ctx, p, p.unbroken, 10*time.Minute, "-test.v"); err != nil {
			return out, err
		}
		p.took = timesOf(out)
	}
	return nil, nil
}

var passed = regexp.MustCompile(`(?m)^--- PASS: (\S+) \(([0-9.]+)s\)$`)

// timesOf returns how long each test took, subtests included, of which a run tells with -test.v.
func timesOf(out []byte) map[string]time.Duration {
	took := make(map[string]time.Duration)
	for _, m := range passed.FindAllSubmatch(out, -1) {
		took[string(m[1])], _ = time.ParseDuration(string(m[2]) + "s") // it has that form
	}
	return took
}

// patienceWith is how long the killers may take: they hang sooner than all tests would.
func (b *bench) patienceWith(p *testPackage) time.Duration {
	patience := 30 * time.Second
	for _, name := range p.killers {
		test, _, _ := strings.Cut(name, "/")
		patience += 3 * p.took[test]
	}
	return min(patience, b.patience)
}

// build builds the tests of a package, with an overlay if one is named. Two that are built of equal code are equal.
func (b *bench) build(ctx context.Context, p *testPackage, overlay string) (binary string, out []byte, err error) {
	binary = filepath.Join(b.dir, "tests")
	args := []string{"test", "-c", "-trimpath", "-vet=off", "-ldflags=-s -w -buildid=", "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	out, err = in(ctx, b.tree, "go", append(args, p.ImportPath)...)
	return binary, out, err
}

func (b *bench) run(
	ctx context.Context, p *testPackage, binary string, patience time.Duration, more ...string,
) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience+10*time.Second) // for those that hang beside their own limit
	defer cancel()
	args := slices.Concat([]string{"-test.failfast", "-test.timeout=" + patience.String()}, b.args, more)
	return in(ctx, p.Dir, binary, args...)
}

// try tries one mutant. An error says that it could not be tried.
func (b *bench) try(ctx context.Context, m mutant) (outcome, error) {
	start := time.Now()
	o := outcome{Mutant: m.name(), Before: m.before(), After: m.after(), Verdict: equal}
	overlay, err := b.overlay(m)
	if err != nil {
		return o, err
	}
	for i := range b.packages {
		verdict, by, err := b.tryIn(ctx, &b.packages[i], overlay)
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		if err != nil {
			return o, err
		}
		o.Seconds = time.Since(start).Seconds()
		if verdict != equal {
			o.Verdict, o.By = verdict, by
		}
		if verdict == killed || verdict == unbuilt {
			break
		}
	}
	return o, nil
}

func (b *bench) tryIn(ctx context.Context, p *testPackage, overlay string) (verdict, string, error) {
	binary, _, err := b.build(ctx, p, overlay)
	if err != nil {
		return unbuilt, "", nil
	}
	sum, err := sumOf(binary)
	if err != nil || sum == p.sum {
		return equal, "", err
	}
	by := ""
	if len(p.killers) > 0 {
		by = b.failing(ctx, p, binary, b.patienceWith(p), "-test."+only(p.killers...)[1:])
	}
	if by == "" {
		by = b.failing(ctx, p, binary, b.patience)
	}
	if strings.HasPrefix(by, "Test") && !b.proves(ctx, p, binary, by) {
		by = b.failing(ctx, p, binary, b.patience) // it may have failed because the machine was busy
	}
	if by == "" {
		return survived, "", nil
	}
	if b.standsAlone(ctx, p, by) {
		p.note(by)
	}
	return killed, by, nil
}

// proves reports whether a test that runs alone fails with a mutant, and only then.
func (b *bench) proves(ctx context.Context, p *testPackage, binary, test string) bool {
	return b.standsAlone(ctx, p, test) && !b.isGreen(ctx, p, binary, test)
}

// standsAlone reports whether a test is green without a mutant when it runs alone. One that needs what others left
// behind fails then whatever it is asked about. Where a process ended without a test that failed, none stands.
func (b *bench) standsAlone(ctx context.Context, p *testPackage, test string) bool {
	if !strings.HasPrefix(test, "Test") {
		return false
	}
	if _, tried := p.alone[test]; !tried {
		p.alone[test] = b.isGreen(ctx, p, p.unbroken, test)
	}
	return p.alone[test]
}

// failing runs all tests, or those that flags choose, and returns the one that fails first, or how the process ended
// without one.
func (b *bench) failing(
	ctx context.Context, p *testPackage, binary string, patience time.Duration, flags ...string,
) (by string) {
	out, err := b.run(ctx, p, binary, patience, flags...)
	if err == nil {
		return ""
	}
	if by = noticedBy(out); by == "" {
		by = lastLine(out, err)
	}
	return by
}

// isGreen reports whether a test that runs alone passes.
func (b *bench) isGreen(ctx context.Context, p *testPackage, binary, test string) bool {
	_, err := b.run(ctx, p, binary, b.patience, "-test."+only(test)[1:])
	return err == nil
}

// overlay writes a mutant, and returns the file that says whose place it takes.
func (b *bench) overlay(m mutant) (string, error) {
	changed := filepath.Join(b.dir, "changed"+filepath.Ext(m.file))
	overlay := filepath.Join(b.dir, "overlay.json")
	content, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(b.tree, filepath.FromSlash(m.file)): changed},
	})
	return overlay, errors.Join(err, os.WriteFile(changed, []byte(m.content()), 0o644),
		os.WriteFile(overlay, content, 0o644))
}

func sumOf(file string) ([sha256.Size]byte, error) {
	content, err := os.ReadFile(file)
	return sha256.Sum256(content), err
}

func lastLine(out []byte, err error) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return fmt.Sprintf("%v: %s", err, lines[len(lines)-1])
}
