package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// seen is what a page shows in a window.
type seen struct {
	Page          string
	Scheme        string  // the one chosen, or none
	Window, Width float64 // of the window, and of the page in it
	Paper, Ink    float64 // how bright they are: 0 is black
	Text          float64 // the width of the text
	Menu, Nav     bool    // whether they are to be seen
}

const look = `
function brightness(colour) {
	const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
	return a * (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
}
function look(frame, scheme) {
	const page = frame.contentDocument, style = frame.contentWindow.getComputedStyle(page.body);
	const shown = query => page.querySelector(query).getClientRects().length > 0;
	page.documentElement.dataset.scheme = scheme;
	return {
		Page: frame.dataset.page, Scheme: scheme,
		Window: frame.clientWidth, Width: page.documentElement.scrollWidth,
		Paper: brightness(style.backgroundColor), Ink: brightness(style.color),
		Text: page.querySelector("article").clientWidth,
		Menu: shown(".menu"), Nav: shown("#site-nav"),
	};
}
const frames = [...document.querySelectorAll("iframe")];
report(schemes.flatMap(scheme => frames.map(frame => look(frame, scheme))));`

// Each page fits into the windows of a phone and of a computer, in light and in dark.
func TestPagesInBrowser(t *testing.T) {
	site := onDisk(t)
	var shown []seen
	all := append(frames(t, 390), frames(t, 1280)...)
	browse(t, sheet(t, site, all, `const schemes = ["light", "dark"];`+look), &shown)
	if len(shown) != 2*len(all) || len(all) < 60 {
		t.Fatalf("%d pages were seen in %d frames", len(shown), len(all))
	}
	for _, s := range shown {
		if fault := s.fault(s.Scheme); fault != "" {
			t.Errorf("%s: %s: %+v", s.Page, fault, s)
		}
	}
}

// A reader who has not chosen gets the colours that the system is set to.
func TestPreferenceInBrowser(t *testing.T) {
	site := onDisk(t)
	for scheme, preference := range map[string]string{"dark": "0", "light": "1"} {
		var shown []seen
		browse(t, sheet(t, site, []frame{{"index.html", 1280}}, `const schemes = [""];`+look), &shown,
			"--blink-settings=preferredColorScheme="+preference)
		for _, s := range shown {
			if fault := s.fault(scheme); fault != "" {
				t.Errorf("%s is preferred: %s: %+v", scheme, fault, s)
			}
		}
	}
}

func (s seen) fault(scheme string) string {
	narrow := s.Window < 960
	switch {
	case s.Width > s.Window:
		return "the page is wider than the window"
	case s.Text < 350:
		return "there is no room for the text"
	case narrow != s.Menu || narrow == s.Nav:
		return "the navigation is not where it should be"
	case scheme == "light" && (s.Paper < 0.9 || s.Ink > 0.2), scheme == "dark" && (s.Paper > 0.2 || s.Ink < 0.8):
		return "the colours are not those of the scheme"
	}
	return ""
}

// A page that is opened from its folder, with no more rights than that, finds words in others.
func TestSearchInBrowser(t *testing.T) {
	site := onDisk(t)
	for _, page := range []string{"index.html", "docs/quickstart/redis.html"} {
		text := open(t, "file://"+path.Join(site, page)+"?q=Sentinels+FAILOVER")
		found := regexp.MustCompile(`<li><a href="([^"]*)">(.*?)<small>(.*?)</small>`).FindAllStringSubmatch(text, -1)
		if len(found) < 2 || !slices.ContainsFunc(found, func(row []string) bool {
			return row[1] == up(page)+"docs/redis.html#sentinels" && strings.Contains(row[3], "<mark>failover</mark>")
		}) {
			t.Errorf("%s found %q", page, found)
		}
	}
}

const press = `
const frame = document.querySelector("iframe"), page = frame.contentDocument, input = page.querySelector("#site-query");
const first = page.querySelector("#site-found a"), box = page.querySelector("#site-found"), root = page.documentElement;
const type = key => page.activeElement.dispatchEvent(
	new frame.contentWindow.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const did = [];
const note = (what, so) => did.push(what + ": " + so);
note("found before", !box.hidden);
type("/"); note("/ goes to the box", page.activeElement === input);
type("ArrowDown"); note("down goes to the first", page.activeElement === first);
type("ArrowUp"); note("up goes back", page.activeElement === input);
type("Escape"); note("escape hides", box.hidden);
const button = page.querySelector(".scheme");
const scheme = () => root.dataset.scheme || "auto";
localStorage.clear();
const schemes = [1, 2, 3].map(() => { button.click(); return scheme() + "/" + (localStorage.getItem("scheme") || "auto") });
note("schemes", schemes);
note("buttons to copy", page.querySelectorAll("pre").length === page.querySelectorAll(".code .copy").length);
report(did);`

// A reader searches with the keyboard alone, and what colours they choose is remembered.
func TestControlsInBrowser(t *testing.T) {
	site := onDisk(t)
	var got []string
	browse(t, sheet(t, site, []frame{{"docs/redis.html?q=failover", 1280}}, press), &got)
	want := []string{
		"found before: true", "/ goes to the box: true", "down goes to the first: true", "up goes back: true",
		"escape hides: true", "schemes: light/light,dark/dark,auto/auto", "buttons to copy: true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// On a phone the box with what was found is wider than that to search in, and all of it is to be seen.
func TestFoundFitsInBrowser(t *testing.T) {
	site := onDisk(t)
	const where = `const page = document.querySelector("iframe").contentDocument;
report(page.querySelector("#site-found").getBoundingClientRect());`
	for _, width := range []float64{390, 1280} {
		var box struct{ Left, Right float64 }
		browse(t, sheet(t, site, []frame{{"docs/redis.html?q=failover", int(width)}}, where), &box)
		if box.Left < 0 || box.Right > width || box.Right-box.Left < 300 {
			t.Errorf("at %v pixels it is from %v to %v", width, box.Left, box.Right)
		}
	}
}

// onDisk makes the site of this tree in a folder.
func onDisk(t *testing.T) string {
	t.Helper()
	browser(t)
	folder := t.TempDir()
	if err := run(thisTree(t), folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

// A frame shows a page of the site, in a width.
type frame struct {
	page  string
	width int
}

// frames are one for each page.
func frames(t *testing.T, width int) (all []frame) {
	t.Helper()
	s, err := load(thisTree(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.inOrder() {
		all = append(all, frame{p.target, width})
	}
	return all
}

// sheet is a page of frames with a script that runs when they are loaded, and reports what it saw.
func sheet(t *testing.T, site string, frames []frame, script string) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("<!doctype html><meta charset=utf-8><body>")
	for _, f := range frames {
		fmt.Fprintf(&text, `<iframe src="file://%s" data-page="%s" style="border:0;width:%dpx;height:800px"></iframe>`,
			path.Join(site, f.page), f.page, f.width)
	}
	fmt.Fprintf(&text, `<script>
function report(what) { document.body.innerHTML = "<pre id=report>" + encodeURIComponent(JSON.stringify(what)) + "</pre>" }
addEventListener("load", () => {%s});
</script>`, script)
	name := filepath.Join(t.TempDir(), "sheet.html")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// browse opens a sheet, which may look into its frames, and reads its report.
func browse(t *testing.T, sheet string, report any, more ...string) {
	t.Helper()
	text := open(t, "file://"+sheet, append(more, "--allow-file-access-from-files")...)
	found := regexp.MustCompile(`<pre id="report">([^<]*)</pre>`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("the sheet reports nothing: %.2000s", text)
	}
	plain, err := url.PathUnescape(html.UnescapeString(found[1]))
	if err == nil {
		err = json.Unmarshal([]byte(plain), report)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// open returns what a page has become when it and its scripts are loaded.
func open(t *testing.T, address string, more ...string) string {
	t.Helper()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--user-data-dir=" + t.TempDir(), "--window-size=1280,900", "--dump-dom",
	}, more...)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // it only ends what hangs
	defer cancel()
	cmd := exec.CommandContext(ctx, browser(t), append(args, address)...)
	cmd.WaitDelay = time.Second
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaint(err))
	}
	return string(text)
}

func complaint(err error) string {
	if exit, ok := err.(*exec.ExitError); ok {
		return string(exit.Stderr)
	}
	return ""
}

// browser is the first of Chromium's programs that is installed.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "chromium is not installed: apt-get install -y --no-install-recommends chromium-headless-shell"
	if os.Getenv("HOLDFAST_NO_SKIP") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}
