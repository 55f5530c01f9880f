package experiment_test

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/lab/browser"
	"github.com/holdfast-go/holdfast/lab/experiment"
	"github.com/holdfast-go/holdfast/lab/report"
	"github.com/holdfast-go/holdfast/lab/subprocess"
)

func TestMain(m *testing.M) {
	subprocess.Main()
	os.Exit(m.Run())
}

// Every classic must be seen to fail, and Holdfast must not: an experiment that shows neither proves nothing. A browser
// then shows a page of each.
func TestExperiments(t *testing.T) {
	effort.Long(t)
	short := !effort.IsSoak()
	all := experiment.All()
	reports := make([]experiment.Report, len(all))
	t.Run("verdict", func(t *testing.T) {
		for i, e := range all {
			t.Run(e.Name, func(t *testing.T) {
				if e.Needs != "" && short {
					t.Parallel() // the others measure how this process uses the processors, and long ones need them all
				}
				reports[i] = e.Run(t, experiment.Config{Short: short})
				t.Log(reports[i].Verdict())
				if c := reports[i].Complaint(); c != "" {
					t.Error(c)
				}
				answerIsMeasured(t, reports[i])
			})
		}
	})
	if !t.Failed() {
		t.Run("desktop", func(t *testing.T) { pagesShow(t, reports, 1000, 900) })
		t.Run("phone", func(t *testing.T) { pagesShow(t, reports, 390, 1200) })
	}
}

// answerIsMeasured fails a test if the answer has a number that nobody has measured.
func answerIsMeasured(t *testing.T, r experiment.Report) {
	measured := []string{"0", "1"}
	note := func(v float64) {
		measured = append(measured, fmt.Sprintf("%.0f", v), fmt.Sprintf("%.1f", v), fmt.Sprintf("%.2g", v))
	}
	for _, v := range r.Variants {
		note(v.Overlap)
		note(v.Overlap / 1000)
		for _, n := range v.Numbers {
			note(n.Value)
			note(1000 * n.Value)
			if n.Limit != nil {
				note(*n.Limit)
			}
		}
		for _, c := range v.Charts {
			measured = append(measured, c.Points...)
			for _, l := range c.Lines {
				note(l.Values[len(l.Values)-1])
			}
		}
	}
	for _, number := range regexp.MustCompile(`\d+(\.\d+)?`).FindAllString(r.Answer, -1) {
		if !slices.Contains(measured, number) {
			t.Errorf("nobody has measured %s: %s", number, r.Answer)
		}
	}
}

// pagesShow opens the index and the page of each report in frames of this size. Each must fit, and show a picture.
func pagesShow(t *testing.T, reports []experiment.Report, width, height int) {
	dir := t.TempDir()
	if err := report.Write(dir, reports); err != nil {
		t.Fatal(err)
	}
	pages := []string{filepath.Join(dir, "index.html")}
	for _, r := range reports {
		if r.Name != "" { // else its test was not chosen to run
			pages = append(pages, filepath.Join(dir, r.Name+".html"))
		}
	}
	for i, shown := range browser.Together(t, pages, width, height) {
		t.Run(filepath.Base(pages[i]), func(t *testing.T) {
			browser.Margin(t, shown, color.RGBA{0xff, 0xff, 0xff, 0xff})
			painted := 0
			for c, n := range browser.Colours(shown) {
				if max(c.R, c.G, c.B)-min(c.R, c.G, c.B) > 0x50 {
					painted += n
				}
			}
			if painted < 300 {
				t.Errorf("%d pixels have a colour; is the picture there?", painted)
			}
		})
	}
}
