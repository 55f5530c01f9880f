package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/devtools/tree"
)

// clone makes a checkout of two modules, of which one needs the other, and one that is not released.
func clone(t *testing.T) (top string) {
	t.Helper()
	top = t.TempDir()
	for name, text := range map[string]string{
		"go.work":          "go 1.26.0\n\nuse (\n\t./redislock\n\t./lab\n\t.\n)\n",
		"go.mod":           "module " + tree.Root + "\n\ngo 1.26.0\n",
		"redislock/go.mod": "module " + tree.Root + "/redislock\n\ngo 1.26.0\n\nrequire " + tree.Root + " v0.0.0\n",
		"lab/go.mod": "module " + tree.Root + "/lab\n\ngo 1.26.0\n\n" +
			"require " + tree.Root + "/redislock v0.0.0\n",
		"CHANGELOG.md":      "# Changelog\n\n## Unreleased\n\n- It locks.\n",
		"redislock/lock.go": "package redislock\n",
		"LICENSE":           "Do as you like.\n",
	} {
		write(t, filepath.Join(top, name), text)
	}
	git(t, top, "init", "--quiet")
	git(t, top, "config", "user.name", "A")
	git(t, top, "config", "user.email", "a@example.com")
	git(t, top, "add", ".")
	git(t, top, "commit", "--quiet", "--message", "all")
	return top
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, top string, args ...string) string {
	t.Helper()
	out, err := tree.Git(top, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReady(t *testing.T) {
	top := clone(t)
	if err := ready(top, "v0.2.0"); err != nil {
		t.Error(err)
	}
	for _, version := range []string{"", "0.2.0", "v0.2", "v2.0.0"} {
		if err := ready(top, version); err == nil {
			t.Errorf("%q is taken for a version of these modules", version)
		}
	}
	git(t, top, "tag", "redislock/v0.3.0")
	if err := ready(top, "v0.2.0"); err == nil || !strings.Contains(err.Error(), "redislock/v0.3.0") {
		t.Errorf("%v, want a complaint about a newer tag", err)
	}
	write(t, filepath.Join(top, "new.go"), "package holdfast\n")
	if err := ready(top, "v0.4.0"); err == nil || !strings.Contains(err.Error(), "new.go") {
		t.Errorf("%v, want a complaint about a file that no commit has", err)
	}
}

// Without --tag there is no tag afterwards; with it there is one for each module that people get,
// what others need first.
func TestFinish(t *testing.T) {
	top := clone(t)
	if err := tree.Require(top, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	if faults, err := tree.Faults(top); err != nil || len(faults) > 0 {
		t.Errorf("%q, %v", faults, err)
	}
	git(t, top, "commit", "--quiet", "--all", "--message", "release")
	commit := git(t, top, "rev-parse", "HEAD")
	for _, row := range []struct {
		tag        bool
		said, tags string
	}{
		{false, "  v0.1.0\n  redislock/v0.1.0\n", ""},
		{true, "git push --atomic origin HEAD v0.1.0 redislock/v0.1.0\n", "redislock/v0.1.0\nv0.1.0"},
	} {
		var out bytes.Buffer
		if err := finish(top, top, "v0.1.0", commit, row.tag, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), row.said) {
			t.Errorf("it says %q, want %q in it", out.String(), row.said)
		}
		if tags := git(t, top, "tag", "--list"); tags != row.tags {
			t.Errorf("the tags are %q, want %q", tags, row.tags)
		}
	}
}

func TestDateChanges(t *testing.T) {
	name := filepath.Join(clone(t), "CHANGELOG.md")
	day := time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	if err := dateChanges(name, "v0.1.0", day); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(name)
	if want := "# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2030-01-02\n\n- It locks.\n"; string(text) != want {
		t.Errorf("got %q, want %q", text, want)
	}
	if err := dateChanges(name, "v0.2.0", day); err == nil {
		t.Error("a release without changes is made")
	}
}
