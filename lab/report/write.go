// Package report draws what experiments showed as pages that need nothing but a browser: no network, no scripts.
package report

import (
	"embed"
	"html/template"
	"os"
	"path/filepath"

	"github.com/holdfast-go/holdfast/lab/experiment"
)

//go:embed page.html index.html style.css page.css
var files embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"style":    style,
	"timeline": newTimeline,
	// which escapes what it is given
	"chart":    func(c experiment.Chart) template.HTML { return template.HTML(drawing(c, "")) },
	"verdict":  verdictOf,
	"together": together,
}).ParseFS(files, "*.html"))

// style is what all pages begin with.
func style() (template.CSS, error) {
	picture, err := files.ReadFile("style.css")
	if err != nil {
		return "", err
	}
	page, err := files.ReadFile("page.css")
	return template.CSS(picture) + template.CSS(page), err
}

// Write writes a page for each report and an index into a folder, which it makes if it is not there.
func Write(dir string, reports []experiment.Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, r := range reports {
		if err := write(filepath.Join(dir, r.Name+".html"), "page.html", r); err != nil {
			return err
		}
	}
	return write(filepath.Join(dir, "index.html"), "index.html", reports)
}

func write(name, page string, data any) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := pages.ExecuteTemplate(f, page, data); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// A verdict is a word about a report, and the class it is shown in.
type verdict struct{ Word, Class string }

func verdictOf(r experiment.Report) verdict {
	switch {
	case r.Missing != "":
		return verdict{"not run", "missing"}
	case r.Complaint() != "":
		return verdict{"not as it should be", "bad"}
	}
	return verdict{"as it should be", "good"}
}
