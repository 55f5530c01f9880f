package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/holdfast-go/holdfast/internal/devtools/tree"
)

// small is a tree with the fewest pages, and these files besides, which may take the place of its own.
func small(more map[string]string) fstest.MapFS {
	files := map[string]string{
		"README.md":       "# Locks\n\nSee [the engine](docs/engine.md#how-it-works), and [`Lock`](lock.go).\n",
		"CHANGELOG.md":    "# Changelog\n",
		"CONTRIBUTING.md": "# How to help\n",
		"SECURITY.md":     "# Security\n",
		"docs/engine.md":  "# Engine\n\nFirst.\n\n## How it works\n\nWell. It waits.\n\n    $ try it\n",
		"lock.go":         "package locks\n",
	}
	maps.Copy(files, more)
	made := make(fstest.MapFS)
	for name, text := range files {
		made[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return made
}

func made(t *testing.T, tree fs.FS) map[string]string {
	t.Helper()
	folder := t.TempDir()
	if err := run(tree, folder); err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestPages(t *testing.T) {
	const picture = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>"
	files := made(t, small(map[string]string{
		"docs/notes/README.md": "# Notes\n\nOf [the engine](../engine.md).\n",
		"docs/new.md": "# New\n\n![a picture](pictures/a.svg)\n[Notes](notes/)\n[top](../README.md)\n" +
			"[lock.go](../lock.go)\n",
		"docs/pictures/a.svg":   picture,
		"docs/pictures/no.svg":  picture,
		"docs/speed.md":         "# Speed\n\n## Twice\n\n## Twice\n\n[second](#twice-1) [it](https://example.com)\n",
		"docs/design-notes/x.y": "no page",
	}))
	for name, want := range map[string]string{
		"index.html":            `"docs/engine.html#how-it-works">the engine</a>, and <code>Lock</code> (lock.go).`,
		"docs/notes/index.html": `Of <a href="../../docs/engine.html">the engine</a>`,
		"docs/new.html": `<img src="../docs/pictures/a.svg" alt="a picture">
<a href="../docs/notes/index.html">Notes</a>
<a href="../index.html">top</a>
lock.go</p>`,
		"docs/speed.html":     `<a href="#twice-1">second</a> <a href="https://example.com">it</a>`,
		"docs/pictures/a.svg": picture,
		"search-index.js": `{"page":"docs/engine.html","title":"Engine","heading":"How it works",` +
			`"anchor":"how-it-works","text":"Well. It waits.\n$ try it"}`,
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s has no %s:\n%s", name, want, files[name])
		}
	}
	for _, name := range []string{"docs/pictures/no.svg", "docs/design-notes/x.y"} {
		if _, ok := files[name]; ok {
			t.Errorf("%s is in the site", name)
		}
	}
	if group := "<h2>More</h2>"; !strings.Contains(files["index.html"], group) {
		t.Error("pages that the navigation does not name are in no group")
	}
}

// The site is not made, and the complaint has the page and the link.
func TestFaults(t *testing.T) {
	for name, row := range map[string]struct{ page, link string }{
		"page":           {"# New\n\n[there](gone.md)\n", "gone.md"},
		"source":         {"# New\n\n[there](../gone.go)\n", "../gone.go"},
		"anchor":         {"# New\n\n[there](engine.md#gone)\n", "engine.md#gone"},
		"own anchor":     {"# New\n\n[there](#gone)\n", "#gone"},
		"third of two":   {"# New\n\n## A\n\n## A\n\n[there](#a-2)\n", "#a-2"},
		"top of disk":    {"# New\n\n[there](/engine.md)\n", "/engine.md"},
		"out of tree":    {"# New\n\n[there](../../engine.md)\n", "../../engine.md"},
		"by reference":   {"# New\n\n[there][x]\n\n[x]: gone.md\n", "gone.md"},
		"picture":        {"# New\n\n![there](gone.svg)\n", "gone.svg"},
		"far picture":    {"# New\n\n![there](https://example.com/a.svg)\n", "https://example.com/a.svg"},
		"no picture":     {"# New\n\n![there](../lock.go)\n", "../lock.go"},
		"tag":            {"# New\n\nWrite <name> there.\n", "<name>"},
		"without title":  {"New\n", "title"},
		"title too late": {"## New\n\n# Newer\n", "title"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "site")
			err := run(small(map[string]string{"docs/new.md": row.page}), folder)
			said := fmt.Sprint(err)
			if !strings.Contains(said, "docs/new.md: ") || !strings.Contains(said, row.link) {
				t.Error(said)
			}
			if _, err := os.Stat(folder); !os.IsNotExist(err) {
				t.Errorf("a part of the site was written: %v", err)
			}
		})
	}
}

func TestAnchor(t *testing.T) {
	for title, want := range map[string]string{
		"What it costs":                    "what-it-costs",
		"`WithMinHold`, and a -dash_":      "withminhold-and-a--dash_",
		"Beside etcd's own mutex & *more*": "beside-etcds-own-mutex--more",
		"Für Élise":                        "für-élise",
	} {
		files := made(t, small(map[string]string{"docs/new.md": "# New\n\n## " + title + "\n"}))
		if !strings.Contains(files["docs/new.html"], `<h2 id="`+want+`">`) {
			t.Errorf("%q is not %q", title, want)
		}
	}
}

var (
	refers = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	id     = regexp.MustCompile(` id="([^"]*)"`)
)

// What the generator wrote of this tree leads nowhere but to what it wrote, and asks no network for anything.
func TestThisTree(t *testing.T) {
	files := made(t, thisTree(t))
	checked := 0
	for name, text := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, found := range refers.FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(found[1], "https://") || strings.HasPrefix(found[1], "http://") {
				continue
			}
			file, anchor, _ := strings.Cut(found[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			checked++
			if there, ok := files[to]; !ok || anchor != "" && !hasID(there, anchor) {
				t.Errorf("%s leads to %s, which is not there", name, found[1])
			}
		}
		if regexp.MustCompile(`(?:src|<link[^>]*href)="(?:https?:)?//`).MatchString(text) {
			t.Errorf("%s loads something from the network", name)
		}
	}
	if checked < 1000 {
		t.Errorf("only %d links were found", checked)
	}
}

func hasID(text, anchor string) bool {
	count := 0
	for _, found := range id.FindAllStringSubmatch(text, -1) {
		if found[1] == anchor {
			count++
		}
	}
	return count == 1
}

// Pages that the navigation names and that are gone would leave it without a word.
func TestNavigationNamesPages(t *testing.T) {
	here := thisTree(t)
	for _, part := range order {
		for _, e := range part.entries {
			if _, err := fs.Stat(here, e.source); err != nil {
				t.Errorf("groups.go names a page that is not there: %v", err)
			}
		}
	}
}

func thisTree(t *testing.T) fs.FS {
	t.Helper()
	top, err := tree.Top()
	if err != nil {
		t.Fatal(err)
	}
	return os.DirFS(top)
}
