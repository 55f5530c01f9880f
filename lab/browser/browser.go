// Package browser opens pages in headless Chromium for tests, which look at what a person would see.
package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	run(t, page, append(more, "--window-size="+size, "--screenshot="+shot)...)
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

// run opens a page in a browser with a profile of its own, and returns what it prints and what it complains of.
func run(t testing.TB, page string, more ...string) (printed, said string) {
	t.Helper()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--user-data-dir=" + t.TempDir(),
	}, more...)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // it only ends what hangs
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t), append(args, "file://"+page)...)
	cmd.WaitDelay = time.Second
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	return out.String(), complaints.String()
}

// program is the first of Chromium's programs that is installed.
func program(t testing.TB) string {
	t.Helper()
	path := installed()
	servers.Require(t, path != "", "chromium", install)
	return path
}

const install = "apt-get install -y --no-install-recommends chromium-headless-shell"

// Missing says what is not installed, or nothing.
func Missing() string {
	if installed() == "" {
		return "chromium is not installed: " + install
	}
	return ""
}

func installed() string {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
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

// A Frame shows a page in a window that is so many pixels wide.
type Frame struct {
	Page  string
	Width int
}

// Ask opens pages in frames, runs a script in the page around them when all are loaded, and decodes the JSON of what
// the script calls report with. It returns what the browser wrote to its console.
func Ask(t testing.TB, frames []Frame, script string, answer any, more ...string) (console []string) {
	t.Helper()
	var text strings.Builder
	text.WriteString("<!doctype html><meta charset=utf-8><body>")
	for _, f := range frames {
		fmt.Fprintf(&text, `<iframe src="file://%s" style="border:0;width:%dpx;height:900px"></iframe>`,
			f.Page, f.Width)
	}
	fmt.Fprintf(&text, `<script>
const frames = [...document.querySelectorAll("iframe")];
function report(what) { document.body.innerHTML = "<pre id=report>" + encodeURIComponent(JSON.stringify(what)) + "</pre>" }
addEventListener("load", () => {%s});
</script>`, script)
	name := filepath.Join(t.TempDir(), "sheet.html")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	more = append(more, "--dump-dom", "--allow-file-access-from-files", "--enable-logging=stderr")
	dom, said := run(t, name, more...)
	found := regexp.MustCompile(`<pre id="report">([^<]*)</pre>`).FindStringSubmatch(dom)
	if found == nil {
		t.Fatalf("the script reports nothing: %s", said)
	}
	plain, err := url.PathUnescape(html.UnescapeString(found[1]))
	if err == nil {
		err = json.Unmarshal([]byte(plain), answer)
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(said) {
		if strings.Contains(line, ":CONSOLE") {
			console = append(console, line)
		}
	}
	return console
}
