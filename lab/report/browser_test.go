package report

import (
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/lab/browser"
	"github.com/holdfast-go/holdfast/lab/experiment"
	"github.com/holdfast-go/holdfast/lab/subprocess"
)

func TestMain(m *testing.M) {
	subprocess.Main() // experiments start this program as other processes
	os.Exit(m.Run())
}

// What pages are painted with, from style.css.
var (
	light = palette{paper: rgb(0xff, 0xff, 0xff), held: rgb(0x2c, 0x6f, 0xbb), overlap: rgb(0xd2, 0x2f, 0x2f),
		second: rgb(0xd9, 0x82, 0x2b)}
	dark = palette{paper: rgb(0x14, 0x18, 0x1e), held: rgb(0x5c, 0x9c, 0xe6), overlap: rgb(0xf0, 0x57, 0x4f),
		second: rgb(0xea, 0xa0, 0x4f)}
)

type palette struct{ paper, held, overlap, second color.RGBA }

func rgb(r, g, b uint8) color.RGBA { return color.RGBA{r, g, b, 0xff} }

// A browser draws the pages so that what matters is there to be seen, in light and dark, on a desk and on a phone.
func TestInBrowser(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, []experiment.Report{example}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, size, scheme string
		palette            palette
		width              int
	}{
		{"desktop", "1200,1300", "1", light, 1200},
		{"phone", "390,1700", "1", light, 390},
		{"phone at night", "390,1700", "0", dark, 390},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			picture := browser.Photograph(t, filepath.Join(dir, "example.html"), row.size,
				"--blink-settings=preferredColorScheme="+row.scheme)
			if got := picture.Bounds().Dx(); got != row.width {
				t.Errorf("the page is %d wide, and the window %d", got, row.width)
			}
			seen := browser.Colours(picture)
			for what, c := range map[string]color.RGBA{
				"holders":                     row.palette.held,
				"overlaps and refused writes": row.palette.overlap,
				"a second line":               row.palette.second,
			} {
				if seen[c] < 100 {
					t.Errorf("%d pixels show %s, in %v", seen[c], what, c)
				}
			}
			if total := picture.Bounds().Dx() * picture.Bounds().Dy(); seen[row.palette.paper] < total/2 {
				t.Errorf("%d of %d pixels are paper", seen[row.palette.paper], total)
			}
			browser.Margin(t, picture, row.palette.paper)
		})
	}
}

// What a run on a real server has shown is drawn as well: two who hold the lock, and a write that is refused.
func TestRealRunInBrowser(t *testing.T) {
	e, err := experiment.Named("fencing")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Write(dir, []experiment.Report{e.Run(t, experiment.Config{Short: true})}); err != nil {
		t.Fatal(err)
	}
	if page := read(t, dir, "fencing.html"); !strings.Contains(page, `class="overlap"`) ||
		!strings.Contains(page, `class="rejected"`) {
		t.Error("the page shows no overlap, or no write that was refused")
	}
	for _, size := range []string{"1200,1300", "390,1700"} {
		seen := browser.Colours(browser.Photograph(t, filepath.Join(dir, "fencing.html"), size,
			"--blink-settings=preferredColorScheme=1"))
		if seen[light.held] < 500 || seen[light.overlap] < 100 {
			t.Errorf("at %s %d pixels show holders, and %d overlaps", size, seen[light.held], seen[light.overlap])
		}
	}
}
