package main

import (
	"errors"
	"fmt"
	"io/fs"
)

// A site is what becomes of the pages of a tree.
type site struct {
	tree     fs.FS
	pages    map[string]*page // by their files in the tree
	groups   []group
	pictures map[string]bool // files of the tree that pages show
}

// A page is one file in Markdown, and what is made of it.
type page struct {
	source, target string // the files in the tree and in the site, with slashes
	label          string // in the navigation
	body           []byte
	headings       []heading
	sections       []section
	links          []link
}

// run makes the site of a tree in a folder.
func run(tree fs.FS, folder string) error {
	s, err := load(tree)
	if err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	return s.write(folder)
}

// load reads and converts all pages, and says of each what is wrong with it.
func load(tree fs.FS) (*site, error) {
	sources, err := find(tree)
	if err != nil {
		return nil, err
	}
	s := &site{tree: tree, pages: make(map[string]*page), pictures: make(map[string]bool)}
	for _, source := range sources {
		s.pages[source] = &page{source: source, target: target(source)}
	}
	var errs []error
	for _, source := range sources {
		if err := s.convert(s.pages[source]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", source, err))
		}
	}
	s.groups = s.grouped(sources)
	return s, errors.Join(errs...)
}

func (p *page) title() string { return p.headings[0].Text }
