package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/holdfast-go/holdfast/internal/devtools/tree"
)

// release prepares and checks the commit in a worktree of its own, so that this one stays as it is whatever comes.
func release(top, version string, tag bool, out io.Writer) (err error) {
	if err := ready(top, version); err != nil {
		return err
	}
	aside, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	copied := filepath.Join(aside, "tree")
	if _, err := tree.Git(top, "worktree", "add", "--quiet", "--detach", copied, "HEAD"); err != nil {
		return err
	}
	defer func() {
		_, gone := tree.Git(top, "worktree", "remove", "--force", copied)
		err = errors.Join(err, gone)
	}()
	commit, err := prepare(copied, version, out)
	if err != nil {
		return err
	}
	return finish(top, copied, version, commit, tag, out)
}

// ready says why a version cannot be made from this checkout.
func ready(top, version string) error {
	if err := tree.CheckVersion(version); err != nil {
		return err
	}
	changes, err := tree.Git(top, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return fmt.Errorf("there are changes that no commit has:\n%s", changes)
	}
	tags, err := tree.Git(top, "tag", "--list")
	if err != nil {
		return err
	}
	for there := range strings.Lines(tags) {
		last := strings.TrimSpace(there)
		last = last[strings.LastIndex(last, "/")+1:]
		if semver.Compare(version, last) <= 0 {
			return fmt.Errorf("there is the tag %s, and %s would not be newer", strings.TrimSpace(there), version)
		}
	}
	return nil
}

// prepare commits the version to a checkout, after all checks.
func prepare(top, version string, out io.Writer) (commit string, err error) {
	if err := tree.Require(top, version); err != nil {
		return "", err
	}
	if err := dateChanges(filepath.Join(top, "CHANGELOG.md"), version, time.Now()); err != nil {
		return "", err
	}
	if err := check(top, out); err != nil {
		return "", err
	}
	if _, err := tree.Git(top, "commit", "--quiet", "--all", "--message", "release: "+version); err != nil {
		return "", err
	}
	return tree.Git(top, "rev-parse", "HEAD")
}

// dateChanges gives what is unreleased the name of the version, and the day.
func dateChanges(name, version string, now time.Time) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	const unreleased = "## Unreleased\n"
	before, changes, found := strings.Cut(string(text), unreleased)
	if !found || strings.HasPrefix(strings.TrimSpace(changes), "## ") {
		return fmt.Errorf("%s has nothing under %q", name, strings.TrimSpace(unreleased))
	}
	heading := fmt.Sprintf("## %s - %s\n", strings.TrimPrefix(version, "v"), now.Format(time.DateOnly))
	return os.WriteFile(name, []byte(before+unreleased+"\n"+heading+changes), 0o644)
}

// check asks whether the modules are tidy, and whether people can get and use them at this version.
func check(top string, out io.Writer) error {
	for _, step := range []struct {
		folder  string
		env     []string
		command []string
	}{
		{"internal/devtools", []string{"GOWORK=off"}, []string{"go", "run", "./tidy", "check"}},
		{".", []string{"HOLDFAST_NO_SKIP=1", "HOLDFAST_LONG=1"}, []string{
			"go", "test", "-vet=off", "./internal/layers", "./internal/released",
		}},
	} {
		fmt.Fprintln(out, "checking:", strings.Join(step.command, " "))
		cmd := exec.Command(step.command[0], step.command[1:]...)
		cmd.Dir = filepath.Join(top, step.folder)
		cmd.Env = append(os.Environ(), step.env...)
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(step.command, " "), err, said)
		}
	}
	return nil
}

// finish puts the tags on the commit, or shows what it would do.
func finish(top, copied, version, commit string, tag bool, out io.Writer) error {
	modules, err := tree.Load(copied)
	if err != nil {
		return err
	}
	var tags []string
	for _, m := range tree.Released(modules) {
		tags = append(tags, m.Tag(version))
	}
	if !tag {
		changes, err := tree.Git(copied, "show", "--stat", "--format=", commit)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\nThe commit would change:\n%s\n\n"+
			"These tags would be put on it, what others need first:\n  %s\n\n"+
			"Nothing has been done; with --tag it is.\n", changes, strings.Join(tags, "\n  "))
		return nil
	}
	for _, name := range tags {
		if _, err := tree.Git(top, "tag", "--annotate", "--message", "Holdfast "+version, name, commit); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nThe tags are in this clone. "+
		"To publish, all at once so that nobody finds one module without another:\n\n"+
		"  git merge --ff-only %s\n  git push --atomic origin HEAD %s\n", version, strings.Join(tags, " "))
	return nil
}
