// Package browser opens pages in headless Chromium for tests, which look at what a person would see.
package browser

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/servers"
)

// Margin fails a test if something is at the right edge of a page: then it is wider than the window.
func Margin(t testing.TB, picture image.Image, paper color.RGBA) {
	t.Helper()
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		if c := color.RGBAModel.Convert(picture.At(b.Max.X-3, y)); c != paper {
			t.Fatalf("something is at the right edge, at height %d: %v", y, c)
		}
	}
}

// Colours counts the pixels of each colour.
func Colours(picture image.Image) map[color.RGBA]int {
	b := picture.Bounds()
	flat := image.NewRGBA(b)
	draw.Draw(flat, b, picture, b.Min, draw.Src)
	seen := make(map[color.RGBA]int)
	for run := 0; run < len(flat.Pix); { // pages are mostly long runs of one colour
		end := run + 4
		for end < len(flat.Pix) && [4]uint8(flat.Pix[end:]) == [4]uint8(flat.Pix[run:]) {
			end += 4
		}
		p := flat.Pix[run:]
		seen[color.RGBA{p[0], p[1], p[2], p[3]}] += (end - run) / 4
		run = end
	}
	return seen
}

// Photograph opens a page in a browser with a profile of its own, and returns what it shows.
func Photograph(t testing.TB, page, size string, more ...string) image.Image {
	t.Helper()
	shot := filepath.Join(t.TempDir(), "shot.png")
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--user-data-dir=" + t.TempDir(),
		"--window-size=" + size, "--screenshot=" + shot,
	}, more...)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t), append(args, "file://"+page)...)
	cmd.WaitDelay = time.Second
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	f, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// program is the first of Chromium's programs that is installed.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	servers.Require(t, false, "chromium", "apt-get install -y --no-install-recommends chromium-headless-shell")
	return ""
}

// Together opens many pages at once, each in a frame of this size, and returns what each shows.
func Together(t testing.TB, pages []string, width, height int) []image.Image {
	t.Helper()
	const widest = 4800 // more than one row of frames, as pictures must not be too long
	columns := max(1, widest/width)
	var sheet strings.Builder
	frames := make([]image.Rectangle, len(pages))
	for i, page := range pages {
		at := image.Pt(i%columns*width, i/columns*height)
		frames[i] = image.Rectangle{at, at.Add(image.Pt(width, height))}
		fmt.Fprintf(&sheet, `<iframe src="file://%s" style="position:absolute;border:0;`+
			`left:%dpx;top:%dpx;width:%dpx;height:%dpx"></iframe>`,
			page, at.X, at.Y, width, height)
	}
	name := filepath.Join(t.TempDir(), "sheet.html")
	if err := os.WriteFile(name, []byte("<!doctype html><body style=margin:0>"+sheet.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := (len(pages) + columns - 1) / columns
	whole := Photograph(t, name, fmt.Sprintf("%d,%d", columns*width, rows*height),
		"--blink-settings=preferredColorScheme=1")
	shown := make([]image.Image, len(pages))
	for i, frame := range frames {
		shown[i] = whole.(interface {
			SubImage(image.Rectangle) image.Image
		}).SubImage(frame)
	}
	return shown
}
