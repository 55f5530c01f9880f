package main

import (
	"bytes"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/lab/browser"
	"github.com/holdfast-go/holdfast/lab/experiment"
	"github.com/holdfast-go/holdfast/lab/subprocess"
)

func TestMain(m *testing.M) {
	subprocess.Main()
	os.Exit(m.Run())
}

func lab(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	c := command()
	c.SetOut(&out)
	c.SetArgs(args)
	err = c.ExecuteContext(t.Context())
	return out.String(), err
}

func TestListNamesWhatCanBeRun(t *testing.T) {
	out, err := lab(t, "list", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var list []experiment.Report
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if _, err := experiment.Named(r.Name); err != nil || r.Question == "" {
			t.Errorf("%q, with the question %q: %v", r.Name, r.Question, err)
		}
	}
	if len(list) != len(experiment.All()) {
		t.Errorf("%d of %d experiments are listed", len(list), len(experiment.All()))
	}
}

func TestRunWritesPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pages")
	out, err := lab(t, "run", "semaphore", "--short", "--json", "--out", dir)
	if err != nil {
		t.Fatal(err)
	}
	var reports []experiment.Report
	if err := json.Unmarshal([]byte(out), &reports); err != nil || len(reports) != 1 || len(reports[0].Variants) != 3 {
		t.Errorf("%v, %s", err, out)
	}
	for _, name := range []string{"index.html", "semaphore.html"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// What was recorded is drawn later as it would have been at once.
func TestReplayDrawsTheSamePages(t *testing.T) {
	at, later := filepath.Join(t.TempDir(), "pages"), filepath.Join(t.TempDir(), "pages")
	out, err := lab(t, "run", "starved-writer", "--short", "--json", "--out", at)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "runs.json")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lab(t, "replay", file, "--out", later); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "starved-writer.html"} {
		first, err := os.ReadFile(filepath.Join(at, name))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(filepath.Join(later, name)); err != nil || !bytes.Equal(first, again) {
			t.Errorf("%s is another page: %v", name, err)
		}
	}
	if err := os.WriteFile(file, []byte(`[{"question": 1}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lab(t, "replay", file, "--out", later); err == nil || !strings.Contains(err.Error(), "--json prints") {
		t.Errorf("what is no recording: %v", err)
	}
}

// A run of systemtest/proof is drawn like one of the lab's own.
func TestReplayOfProof(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pages")
	if _, err := lab(t, "replay", filepath.Join("testdata", "proof.json"), "--out", dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "redis-17.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"visitor 1", "black hole", "exclusion"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not tell of %q", want)
		}
	}
}

// A page can be had as a picture, which is as high as the page.
func TestPictureOfPage(t *testing.T) {
	if browser.Missing() != "" && os.Getenv("HOLDFAST_NO_SKIP") == "" {
		t.Skip(browser.Missing())
	}
	name := filepath.Join(t.TempDir(), "page.png")
	if _, err := lab(t, "run", "semaphore", "--short", "--picture", name); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds().Size(); size.X != 1040 || size.Y < 400 || size.Y > 2000 {
		t.Errorf("the picture is %v", size)
	}
	if info, err := f.Stat(); err != nil || info.Size() > 100_000 {
		t.Errorf("the file has %d bytes: %v", info.Size(), err)
	}
}

func TestRunSaysWhatFails(t *testing.T) {
	out, err := lab(t, "run", "lost-updates")
	if err != nil || !strings.Contains(out, "FAILS     n++: ") ||
		!strings.Contains(out, "holds     Holdfast around n++: 0 of 1000") {
		t.Errorf("%v, %s", err, out)
	}
}

func TestFlashSaleIsDrawn(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "sale.svg")
	out, err := lab(t, "flashsale", "--buyers", "60", "--stock", "7", "--processes", "2", "--lock", "holdfast",
		"--picture", picture)
	if err != nil || !strings.Contains(out, "Holdfast on SQLite") {
		t.Errorf("%v, %s", err, out)
	}
	svg, err := os.ReadFile(picture)
	if err != nil || !strings.Contains(string(svg), "Sold, of a stock of 7") {
		t.Errorf("the picture: %v, %s", err, svg)
	}
}

func TestUnknownNamesAreErrorsThatHelp(t *testing.T) {
	for _, args := range [][]string{{"run", "fence"}, {"flashsale", "--backend", "oracle"},
		{"flashsale", "--lock", "some"}} {
		if _, err := lab(t, args...); err == nil || !strings.Contains(err.Error(), "; there are ") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// Each experiment has the heading that others link to, under the question that it answers.
func TestDocsHaveAllExperiments(t *testing.T) {
	text, err := os.ReadFile("../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	docs := strings.Join(strings.Fields(string(text)), " ")
	for _, e := range experiment.All() {
		if heading := "### " + e.Name + " **" + e.Question + "**"; !strings.Contains(docs, heading) {
			t.Errorf("docs/lab.md lacks %q", heading)
		}
	}
}
