// Package page makes docs/speed.md of the reports that are stored.
package page

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/template"

	"github.com/holdfast-go/holdfast/bench/report"
)

// layout is the page with its prose, and with the places for what was measured.
//
//go:embed speed.md.tmpl
var layout string

// engines are those of the first table, in its order.
var engines = []string{"redis", "redlock", "etcd", "zookeeper", "mariadb", "postgres"}

// pins are the runs that may be stored beside that of an engine, by what their names have besides.
var pins = []string{"-apart", "-together"}

// Write writes the page, with the reports that are stored in a folder.
func Write(w io.Writer, folder string) error {
	reports := make(map[string]*report.Report)
	for _, engine := range engines {
		for _, pin := range append([]string{""}, pins...) {
			r, err := report.Load(folder, engine+pin)
			switch {
			case err == nil:
				reports[engine+pin] = r
			case pin == "" || !errors.Is(err, fs.ErrNotExist):
				return err
			}
		}
	}
	return render(w, layout, reports)
}

func render(w io.Writer, layout string, reports map[string]*report.Report) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"glance": func() string { return glance(reports) },
		"run":    func(engine string) (string, error) { return run(reports, engine) },
	}).Parse(layout)
	if err != nil {
		return err
	}
	return page.Execute(w, nil)
}

// run is what was measured on one engine, and then what was with clients and servers on cores of their own.
func run(reports map[string]*report.Report, engine string) (string, error) {
	r, ok := reports[engine]
	if !ok {
		return "", fmt.Errorf("nothing was measured on %q", engine)
	}
	var text strings.Builder
	r.Markdown(&text)
	for _, pin := range pins {
		if r, ok := reports[engine+pin]; ok {
			fmt.Fprintln(&text)
			r.MarkdownBrief(&text)
		}
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}
