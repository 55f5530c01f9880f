package docs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/internal/files"
)

var drawBadges = flag.Bool("docs.badges", false, "TestBadges draws the badges of the README anew")

// A badge is a fact about the tree in a picture, which nobody has to be asked for.
type badge struct{ file, about, fact string }

// badges are those of the README, from the files that they tell of.
func badges(t *testing.T) []badge {
	promises, kept := rows(read(t, "docs/guarantees.md"), "| # | promise |"), 0
	for _, cells := range promises {
		if strings.Contains(cells[3], "`") {
			kept++
		}
	}
	versions := 0
	for _, cells := range rows(read(t, "docs/versions.md"), "| server |") {
		if strings.HasPrefix(cells[2], "tested") {
			versions++
		}
	}
	return []badge{
		{"badge-go.svg", "Go", after(read(t, "go.mod"), "\ngo ") + " or newer"},
		{"badge-licence.svg", "licence", licence(t)},
		{"badge-promises.svg", "promises", fmt.Sprintf("%d of %d name their tests", kept, len(promises))},
		{"badge-servers.svg", "servers", fmt.Sprintf("tested on %d versions", versions)},
	}
}

// The badges of the README say what is so.
func TestBadges(t *testing.T) {
	readme := read(t, "README.md")
	for _, b := range badges(t) {
		file := "docs/pictures/" + b.file
		if image := fmt.Sprintf("![%s: %s](%s)", b.about, b.fact, file); !strings.Contains(readme, image) {
			t.Errorf("README.md lacks %s", image)
		}
		path := filepath.Join(files.Root, file)
		if *drawBadges {
			if err := os.WriteFile(path, []byte(b.draw()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != b.draw() {
			t.Errorf("%s says something else (%v); draw it with: go test ./internal/docs -docs.badges", file, err)
		}
	}
}

// draw returns the badge as SVG. Texts are as wide as they are said to be, whatever the font.
func (b badge) draw() string {
	const letter, margin = 6.1, 8.0
	left, right := letter*float64(utf8.RuneCountInString(b.about)), letter*float64(utf8.RuneCountInString(b.fact))
	middle, width := left+2*margin, left+right+4*margin
	text := func(at, width float64, text string) string {
		return fmt.Sprintf(`<text x="%.1f" y="14" textLength="%.1f">%s</text>`, at, width, text)
	}
	box := func(width float64, colour string) string {
		return fmt.Sprintf(`<rect width="%.1f" height="20" fill="%s"/>`, width, colour)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.1[1]f" height="20" role="img"
	aria-label="%[2]s: %[3]s">
<style>text { font: 11px Verdana, system-ui, sans-serif; fill: #fff }</style>
%[4]s
%[5]s
%[6]s
%[7]s
</svg>
`, width, b.about, b.fact, box(width, "#2c6fbb"), box(middle, "#3d4653"),
		text(margin, left, b.about), text(middle+margin, right, b.fact))
}

// licence is the short name of the licence whose text the tree has.
func licence(t *testing.T) string {
	text := strings.Join(strings.Fields(read(t, "LICENSE")), " ")
	if !strings.Contains(text, "Apache License Version 2.0") {
		t.Fatal("LICENSE is another one; give its short name here")
	}
	return "Apache-2.0"
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(files.Root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// after is the rest of the line after what it begins with.
func after(text, begin string) string {
	_, rest, _ := strings.Cut(text, begin)
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// rows are the cells of the table that begins like this.
func rows(text, begin string) (rows [][]string) {
	_, table, _ := strings.Cut(text, "\n"+begin)
	table, _, _ = strings.Cut(table, "\n\n")
	for i, line := range strings.Split(table, "\n") {
		if i >= 2 { // after the names of columns, and the line below them
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for c := range cells {
				cells[c] = strings.TrimSpace(cells[c])
			}
			rows = append(rows, cells)
		}
	}
	return rows
}
