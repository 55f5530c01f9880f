package report

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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

// seen is what a page shows in a window.
type seen struct {
	Page          string
	Window, Width float64  // of the window, and of the page in it
	Paper         float64  // how bright it is: 0 is black
	Faint         []string // texts that do not stand out enough from what is behind them
	Texts         int
	Fetched       int // things that the page asked for
	Scripted      bool
}

const look = `
function rgb(colour) { // of 0 to 1, with how much of it is seen
	const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
	return colour.startsWith("color(") ? [r, g, b, a] : [r / 255, g / 255, b / 255, a];
}
function luminance(colour) {
	const [r, g, b] = rgb(colour).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a, b) {
	const [dark, bright] = [luminance(a), luminance(b)].sort((x, y) => x - y);
	return (bright + 0.05) / (dark + 0.05);
}
function behind(element, view) {
	for (; element; element = element.parentElement) {
		const colour = view.getComputedStyle(element).backgroundColor;
		if (rgb(colour)[3] === 1) return colour;
	}
	return "rgb(255, 255, 255)";
}
function look(frame) {
	const page = frame.contentDocument, view = frame.contentWindow;
	const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT), faint = [];
	let texts = 0;
	while (walker.nextNode()) {
		const text = walker.currentNode, element = text.parentElement, style = view.getComputedStyle(element);
		if (!text.data.trim() || element.closest("script, style, title") || !element.getClientRects().length) continue;
		texts++;
		const ink = element.closest("svg") ? style.fill : style.color, ratio = contrast(ink, behind(element, view));
		if (ratio < 4.5) faint.push(ratio.toFixed(1) + ": " + text.data.trim());
	}
	return {
		Page: frame.src.split("/").pop(), Window: frame.clientWidth, Width: page.documentElement.scrollWidth,
		Paper: luminance(view.getComputedStyle(page.body).backgroundColor), Faint: faint, Texts: texts,
		Fetched: view.performance.getEntriesByType("resource").length,
		Scripted: page.documentElement.classList.contains("scripted"),
	};
}
report(frames.map(look));`

// Pages fit into the windows of a phone and of a computer, can be read in light and in dark (WCAG AA: texts have a
// contrast of 4.5), fetch nothing, and complain of nothing.
func TestPagesInBrowser(t *testing.T) {
	dir := written(t)
	for scheme, preference := range map[string]string{"dark": "0", "light": "1"} {
		t.Run(scheme, func(t *testing.T) {
			var frames []browser.Frame
			for _, name := range []string{"index.html", "example.html", "absent.html"} {
				for _, width := range []int{390, 1280} {
					frames = append(frames, browser.Frame{Page: filepath.Join(dir, name), Width: width})
				}
			}
			var shown []seen
			console := browser.Ask(t, frames, look, &shown, "--blink-settings=preferredColorScheme="+preference)
			if len(console) > 0 || len(shown) != len(frames) {
				t.Errorf("%d frames, and the console says %q", len(shown), console)
			}
			for _, s := range shown {
				if fault := s.fault(scheme); fault != "" {
					t.Errorf("%s at %v: %s: %+v", s.Page, s.Window, fault, s)
				}
			}
		})
	}
}

func (s seen) fault(scheme string) string {
	switch {
	case s.Width > s.Window:
		return "the page is wider than the window"
	case len(s.Faint) > 0:
		return "texts are too faint"
	case s.Texts < 4 || s.Page == "example.html" && s.Texts < 60:
		return "texts are missing"
	case s.Fetched > 0:
		return "something was fetched"
	case (scheme == "light") != (s.Paper > 0.9):
		return "the colours are not those of the scheme"
	case s.Scripted != (s.Page != "index.html"):
		return "the script did not run where it should"
	}
	return ""
}

// Danger is red, and what is refused is not; both have shapes of their own.
func TestDangerIsRedInBrowser(t *testing.T) {
	dir := written(t)
	const colours = `
const page = frames[0].contentDocument, view = frames[0].contentWindow;
report(["i.together", ".word.together", ".verdict .classic", ".track .mark.corrupted", "strong.corrupted", ".over",
	"i.holds", "i.waits", ".track .mark.wrote",
	".track .mark.refused", "strong.refused", ".verdict .ours", ".word.refused"].map(query => {
	const element = page.querySelector(query), style = element && view.getComputedStyle(element);
	if (!style) return query + ": not there";
	const colour = element.matches("strong, .classic, .ours") ? style.color : style.backgroundColor;
	const [r, g, b] = colour.match(/[\d.]+/g).map(Number);
	const shape = style.clipPath !== "none" ? "diamond" : style.borderTopLeftRadius;
	return query + ": " + (r > 1.7 * g && r > 1.7 * b ? "red" : "calm") + (query.includes(".mark") ? ", " + shape : "");
}));`
	want := []string{"i.together: red", ".word.together: red", ".verdict .classic: red",
		".track .mark.corrupted: red, diamond", "strong.corrupted: red", ".over: red",
		"i.holds: calm", "i.waits: calm", ".track .mark.wrote: calm, 50%", ".track .mark.refused: calm, 3px",
		"strong.refused: calm", ".verdict .ours: calm", ".word.refused: calm"}
	for _, preference := range []string{"0", "1"} {
		var got []string
		browser.Ask(t, []browser.Frame{{Page: filepath.Join(dir, "example.html"), Width: 1280}}, colours, &got,
			"--blink-settings=preferredColorScheme="+preference)
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// shown is what a slider shows at a moment.
type shown struct {
	At    float64
	Parts map[string][]string
	Head  string // where the line through the picture is
	Said  string // to those who do not see it
}

const slide = `
const run = frames[0].contentDocument.querySelector(".variant"), slider = run.querySelector("input");
const state = () => ({
	At: Number(slider.value),
	Parts: Object.fromEntries([...run.querySelectorAll("[data-part]")].map(part =>
		[part.dataset.part, [...part.children].map(word => word.textContent)])),
	Head: run.querySelector(".head").style.left, Said: slider.getAttribute("aria-valuetext"),
});
const all = [state()];
slider.value = 0;
slider.dispatchEvent(new Event("input"));
all.push(state());
const after = run.querySelector(".after");
for (let at = -1; at < Number(slider.value);) {
	at = Number(slider.value);
	after.click();
	all.push(state());
}
run.querySelector(".before").click();
all.push(state());
slider.focus();
all.push({ At: slider.ownerDocument.activeElement === slider ? 1 : 0, Parts: {}, Head: slider.ariaLabel, Said: slider.type });
report(all);`

// Who moves the slider sees how things were at each moment; first at the one that decides.
func TestSliderInBrowser(t *testing.T) {
	dir := written(t)
	var got []shown
	console := browser.Ask(t, []browser.Frame{{Page: filepath.Join(dir, "example.html"), Width: 1280}}, slide, &got)
	if len(console) > 0 {
		t.Error(console)
	}
	run := example.Variants[0].Run
	steps := newSlider(run).Steps
	decisive, _, _ := run.Decisive()
	moments := []float64{decisive.From}
	for _, s := range steps {
		moments = append(moments, s.At)
	}
	moments = append(moments, steps[len(steps)-1].At, steps[len(steps)-2].At)
	if len(got) != len(moments)+1 {
		t.Fatalf("%d moments were shown, want %d", len(got), len(moments)+1)
	}
	for i, at := range moments {
		want := expected(steps, at)
		head := fmt.Sprintf("%g%%", at/run.Length*100)
		if g := got[i]; g.At != at || !reflect.DeepEqual(g.Parts, want) || g.Head != head ||
			!strings.HasPrefix(g.Said, moment(at)) {
			t.Errorf("%d: shown %+v\nwant %v: %v", i, g, at, want)
		}
	}
	if last := got[len(got)-1]; last.At != 1 || last.Said != "range" || last.Head == "" {
		t.Errorf("the slider has no focus, or no name: %+v", last)
	}
}

// expected is what is said of a moment.
func expected(steps []step, at float64) map[string][]string {
	said := make(map[string][]string)
	for _, s := range steps {
		if s.At > at {
			break
		}
		for name, words := range map[string][]word{"holds": s.Holds, "waits": s.Waits, "faults": s.Faults, "saw": s.Saw,
			"now": s.Now} {
			said[name] = []string{}
			for _, w := range words {
				said[name] = append(said[name], w.Text)
			}
		}
	}
	return said
}

// On paper there is nothing to press, the colours are light, and what was to be seen at the moment that decides stays.
func TestPrintInBrowser(t *testing.T) {
	dir := written(t)
	const print = `
const page = frames[0].contentDocument, view = frames[0].contentWindow;
for (const rule of page.styleSheets[0].cssRules) {
	if (rule.media) rule.media.mediaText = rule.media.mediaText.includes("print") ? "all" :
		rule.media.mediaText.includes("screen") ? "not all" : rule.media.mediaText;
}
const shown = query => [...page.querySelectorAll(query)].filter(e => e.getClientRects().length).length > 0;
report([".controls", "nav", ".moment dl", ".timeline", ".notes"].map(query => query + ": " + shown(query)).concat(
	view.getComputedStyle(page.body).backgroundColor));`
	var got []string
	browser.Ask(t, []browser.Frame{{Page: filepath.Join(dir, "example.html"), Width: 700}}, print, &got,
		"--blink-settings=preferredColorScheme=0")
	want := []string{".controls: false", "nav: false", ".moment dl: true", ".timeline: true", ".notes: true",
		"rgb(255, 255, 255)"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What a run on a real server has shown is drawn as well: the write that corrupts is red, that which is refused is not.
func TestRealRunInBrowser(t *testing.T) {
	e, err := experiment.Named("fencing")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Write(dir, []experiment.Report{e.Run(t, experiment.Config{Short: true})}); err != nil {
		t.Fatal(err)
	}
	page := read(t, dir, "fencing.html")
	classic, ours, _ := strings.Cut(page, "<h2>Holdfast")
	for text, in := range map[string]string{`class="together"`: classic, `class="mark corrupted"`: classic,
		`class="mark refused"`: ours, "1 late write corrupted the account;": classic} {
		if !strings.Contains(in, text) {
			t.Errorf("the page lacks %s where it should be", text)
		}
	}
	if legend := strings.LastIndex(ours, `<ul class="legend"`); strings.Contains(ours[:legend], "mark corrupted") {
		t.Error("with Holdfast a write has corrupted something")
	}
	var shown []seen
	console := browser.Ask(t, []browser.Frame{{Page: filepath.Join(dir, "fencing.html"), Width: 390}}, look, &shown)
	if len(console) > 0 || len(shown) != 1 || shown[0].Width > shown[0].Window {
		t.Errorf("%q, %+v", console, shown)
	}
}

// written are pages of the example, in a folder.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := Write(dir, []experiment.Report{example, missing}); err != nil {
		t.Fatal(err)
	}
	return dir
}
