package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

//go:embed assets
var assets embed.FS

var layout = template.Must(template.ParseFS(assets, "assets/page.html"))

// write puts the site into a folder.
func (s *site) write(folder string) error {
	files, err := s.files()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// files returns all files of the site by their names.
func (s *site) files() (map[string][]byte, error) {
	files := make(map[string][]byte)
	pages := s.inOrder()
	for i, p := range pages {
		text, err := s.dress(p, neighbour(pages, i-1), neighbour(pages, i+1))
		if err != nil {
			return nil, err
		}
		files[p.target] = text
	}
	for name := range s.pictures {
		picture, err := fs.ReadFile(s.tree, name)
		if err != nil {
			return nil, err
		}
		files[name] = picture
	}
	for _, name := range []string{"site.css", "site.js"} {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	index, err := searchIndex(pages)
	files["search-index.js"] = index
	return files, err
}

// searchIndex is a script, since a page that is opened from a folder may load those and no data.
func searchIndex(pages []*page) ([]byte, error) {
	var found []section
	for _, p := range pages {
		for _, part := range p.sections {
			part.Page = p.target
			found = append(found, part)
		}
	}
	list, err := json.Marshal(found)
	return slices.Concat([]byte("window.searchIndex = "), list, []byte(";\n")), err
}

func neighbour(pages []*page, i int) *page {
	if i < 0 || i >= len(pages) {
		return nil
	}
	return pages[i]
}

// A way is a link to a page.
type way struct {
	Label, Href string
	Here        bool
}

// dress puts a page into the layout.
func (s *site) dress(p, previous, next *page) ([]byte, error) {
	type part struct {
		Name string
		Ways []way
	}
	var parts []part
	for _, g := range s.groups {
		named := part{Name: g.Name}
		for _, to := range g.Pages {
			named.Ways = append(named.Ways, *wayTo(p, to))
		}
		parts = append(parts, named)
	}
	var text bytes.Buffer
	err := layout.Execute(&text, map[string]any{
		"Title":    p.title(),
		"Root":     up(p.target),
		"Parts":    parts,
		"Headings": p.contents(),
		"Body":     template.HTML(p.body),
		"Previous": wayTo(p, previous),
		"Next":     wayTo(p, next),
	})
	return text.Bytes(), err
}

// contents are the headings that the table of contents of a page has.
func (p *page) contents() []heading {
	return slices.DeleteFunc(slices.Clone(p.headings), func(h heading) bool { return h.Level < 2 || h.Level > 3 })
}

func wayTo(from, to *page) *way {
	if to == nil {
		return nil
	}
	return &way{Label: to.label, Href: relative(from.target, to.target), Here: from == to}
}
