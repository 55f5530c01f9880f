//go:build linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/effort"
)

// The pages of docs/quickstart print what they show: commands are run one after the other in one shell, on a server
// that has what the page gives it. Only these are not what they are to a reader:
//
//   - ports, and paths in /etc, /var and /home, are those of the test, and are shown as the page's;
//   - "sudo" runs the command as who we are, in a folder in which all is ours, so "sudo chown" need not succeed;
//   - "apt install" looks whether the packages are those of our servers, and starts the server as they do;
//   - "systemctl" and "docker compose" start and stop our server, with the settings that they would find.
//
// In what is printed "..." stands for any text.
func TestQuickstarts(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	for name, e := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			follow(t, "../../docs/quickstart/"+name+".md", e)
		})
	}
}

// Each page has an engine here, and is in the list of pages.
func TestQuickstartsAreListed(t *testing.T) {
	pages, err := filepath.Glob("../../docs/quickstart/*.md")
	if err != nil {
		t.Fatal(err)
	}
	list := readPage(t, "../../docs/quickstart/README.md")
	for _, page := range pages {
		name := filepath.Base(page)
		_, known := engines[strings.TrimSuffix(name, ".md")]
		if name != "README.md" && (!known || !strings.Contains(list, "("+name+")")) {
			t.Errorf("%s: tested is %v, and it must be in the list", name, known)
		}
	}
	if len(pages) != len(engines)+1 {
		t.Errorf("%d pages, of %d engines", len(pages), len(engines))
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// follow does what a page says, block by block.
func follow(t *testing.T, page string, e engine) {
	text := readPage(t, page)
	d := newDesk(t, e, text)
	blocks := fenced.FindAllStringSubmatch(text, -1)
	if e.begin != nil {
		e.begin(t, d)
	}
	if len(blocks) < 3 {
		t.Fatalf("only %d blocks were found", len(blocks))
	}
	for _, block := range blocks {
		switch language, content := block[1], block[2]; language {
		case "console":
			for _, one := range exchangesOf(t, content) {
				d.do(t, one)
			}
		case "go":
			if e.snippet != nil {
				e.snippet(t, d, content)
			} else {
				d.write(t, "main.go", content)
			}
		case "yaml":
			d.write(t, "compose.yaml", content)
		default:
			t.Fatalf("a block of %q, of which this test knows nothing", language)
		}
	}
}

// An exchange is a command, and what it prints.
type exchange struct{ command, prints string }

// exchangesOf returns what is in a block: commands begin with "$ ", and go on in lines that begin with "> ".
func exchangesOf(t *testing.T, content string) (found []exchange) {
	t.Helper()
	for line := range strings.Lines(content) {
		last := len(found) - 1
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			found = append(found, exchange{command: c})
		} else if last < 0 {
			t.Fatalf("a block begins with %q, which is no command", line)
		} else if c, ok := strings.CutPrefix(line, "> "); ok {
			found[last].command += c
		} else {
			found[last].prints += line
		}
	}
	return found
}

// printed reports whether a command printed what a page shows.
func printed(shown, got string) bool {
	var pattern strings.Builder
	for i, part := range strings.Split(strings.TrimSpace(shown), "...") {
		if i > 0 {
			pattern.WriteString(`.*`)
		}
		pattern.WriteString(regexp.QuoteMeta(part))
	}
	return regexp.MustCompile(`(?s)^` + pattern.String() + `$`).MatchString(strings.TrimSpace(got))
}

func TestPrinted(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		shown, got string
		want       bool
	}{
		{"hi\n", "hi", true},
		{"hi\n", "hi there", false},
		{"took ...\n", "took 3ms\nand more\n", true},
		{"a ... (b)\n", "a 1 (c)\n", false},
		{"", "\n", true},
		{"", "an error\n", false},
	} {
		if printed(row.shown, row.got) != row.want {
			t.Errorf("a page shows %q, and %q was printed; that they agree should be %v", row.shown, row.got, row.want)
		}
	}
}
