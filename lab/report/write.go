// Package report draws what experiments showed as pages that need nothing but a browser: no network.
package report

import (
	"embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"

	"github.com/holdfast-go/holdfast/lab/experiment"
)

//go:embed page.html index.html style.css page.css page.js
var files embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"style":  style,
	"script": script,
	"moment": moment,
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

// script is what pages of reports end with.
func script() (template.JS, error) {
	text, err := files.ReadFile("page.js")
	return template.JS(text), err
}

// isName matches names of experiments, which are those of their pages, too. A report may come from a file that anybody
// has written.
var isName = regexp.MustCompile("^[a-z0-9-]+$").MatchString

const indexName = "index"

// Write writes a page for each report and an index into a folder, which it makes if it is not there.
func Write(dir string, reports []experiment.Report) error {
	for _, r := range reports {
		if !isName(r.Name) || r.Name == indexName {
			return fmt.Errorf("no experiment has the name %q", r.Name)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, r := range reports {
		if err := write(filepath.Join(dir, r.Name+".html"), "page.html", newPage(r)); err != nil {
			return err
		}
	}
	return write(filepath.Join(dir, indexName+".html"), "index.html", newIndex(reports))
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
