package docs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/holdfast-go/holdfast/internal/files"
)

// pages returns the text of all pages by their paths.
func pages(t *testing.T) map[string]string { return files.EndingIn(t, ".md") }

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Each link to a file of the tree leads to one, and each to a heading to one that is there.
func TestLinks(t *testing.T) {
	all, links := pages(t), 0
	for page, text := range all {
		for _, found := range link.FindAllStringSubmatch(withoutCode(text), -1) {
			if strings.Contains(found[1], "://") || strings.HasPrefix(found[1], "mailto:") {
				continue
			}
			links++
			file, heading, _ := strings.Cut(found[1], "#")
			target := page
			if file != "" {
				target = path.Join(path.Dir(page), file)
			}
			if _, err := os.Stat(filepath.Join(files.Root, target)); err != nil {
				t.Errorf("%s links to %s, which is not there", page, found[1])
			} else if heading != "" && strings.HasSuffix(target, ".md") &&
				!slices.Contains(headings(all[target]), heading) {
				t.Errorf("%s links to %s, but there is no such heading", page, found[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were found", links)
	}
}

var block = regexp.MustCompile("(?ms)^ *```.*?^ *```")

func withoutCode(text string) string { return block.ReplaceAllString(text, "") }

// headings returns the anchors of a page: the headings in small letters, with dashes for spaces and without other
// signs.
func headings(text string) (anchors []string) {
	for line := range strings.Lines(withoutCode(text)) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		title := strings.TrimSpace(strings.TrimLeft(line, "#"))
		anchors = append(anchors, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, title))
	}
	return anchors
}

var (
	named    = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*\b`)
	part     = regexp.MustCompile("`TestEngine/(\\w+)`")
	declared = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w*)\(`)
)

// Each test that a page names is there, but for those that it shows. A name may end in "..." for several that begin so.
func TestNamedTests(t *testing.T) {
	there := make(map[string]bool)
	for _, text := range files.EndingIn(t, "_test.go") {
		for _, found := range declared.FindAllStringSubmatch(text, -1) {
			there[found[1]] = true
		}
	}
	names := 0
	for page, text := range pages(t) {
		for _, at := range named.FindAllStringIndex(text, -1) {
			name := text[at[0]:at[1]]
			if strings.HasSuffix(text[:at[0]], "func ") || ofCommit.MatchString(text[max(0, at[0]-99):at[0]]) {
				continue
			}
			names++
			if strings.HasPrefix(text[at[1]:], "...") &&
				slices.ContainsFunc(keys(there), func(n string) bool { return strings.HasPrefix(n, name) }) {
				continue
			}
			if !there[name] {
				t.Errorf("%s names %s, which is no test", page, name)
			}
		}
	}
	if names < 100 {
		t.Errorf("only %d names of tests were found", names)
	}
}

func keys(set map[string]bool) (ks []string) {
	for k := range set {
		ks = append(ks, k)
	}
	return ks
}

// Each part of TestEngine that a page names is there.
func TestNamedParts(t *testing.T) {
	run, err := os.ReadFile(filepath.Join(files.Root, "internal/leasedtest/engine.go"))
	if err != nil {
		t.Fatal(err)
	}
	parts := 0
	for page, text := range pages(t) {
		for _, found := range part.FindAllStringSubmatch(text, -1) {
			parts++
			if !strings.Contains(string(run), `"`+found[1]+`":`) {
				t.Errorf("%s names %s, which is no part of that test", page, found[0])
			}
		}
	}
	if parts < 10 {
		t.Errorf("only %d parts were found", parts)
	}
}

var suite = regexp.MustCompile("`suite: ([^`]+)`")

// Each row of the suite of drivers that a page names is there.
func TestNamedRows(t *testing.T) {
	var source strings.Builder
	for name, text := range files.EndingIn(t, ".go") {
		if strings.HasPrefix(name, "driver/drivertest/") {
			source.WriteString(text)
		}
	}
	rows := 0
	for page, text := range pages(t) {
		for _, found := range suite.FindAllStringSubmatch(text, -1) {
			rows++
			row, _, _ := strings.Cut(found[1], "...")
			if !strings.Contains(source.String(), `"`+strings.TrimSpace(row)) {
				t.Errorf("%s names the row %q of the suite, which is not there", page, found[1])
			}
		}
	}
	if rows < 10 {
		t.Errorf("only %d rows were found", rows)
	}
}

// ofCommit is what stands before the name of a test that need only be in that commit, as in a row of docs/proof.md.
var ofCommit = regexp.MustCompile("`[0-9a-f]{7} $")

var target = regexp.MustCompile("(?m)(?:^ {4}|^\\$ |`)make ([a-z][a-z-]*)")

// Each target of make that a page names is there.
func TestNamedTargets(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(files.Root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for page, text := range pages(t) {
		for _, found := range target.FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`(?m)^` + found[1] + `:`).Match(makefile) {
				t.Errorf("%s names make %s, which is no target", page, found[1])
			}
		}
	}
}

var folder = regexp.MustCompile(`go (?:run|test|build|install) (?:-[^\s]+ (?:'[^']*' |\d+ )?)*(\./[a-z0-9/]+)`)

// Each folder that a page has the go command work in is there.
func TestNamedFolders(t *testing.T) {
	for page, text := range pages(t) {
		for _, found := range folder.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(files.Root, found[1])); err != nil {
				t.Errorf("%s has %q, but there is no such folder", page, found[0])
			}
		}
	}
}
