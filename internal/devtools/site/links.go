package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// A link leads from a page to a heading of a page.
type link struct {
	written    string // as it is in the file
	to, anchor string
}

// pictureTypes are the endings of files that are copied into the site where a page shows or links to them.
var pictureTypes = []string{".svg", ".png", ".jpg", ".webp"}

// lead has the links of a page lead to the pages and pictures of the site. Those to other files of the tree become
// their text, and the path: nobody knows where the reader has the tree.
func (s *site) lead(p *page, doc ast.Node, source []byte) error {
	var errs []error
	for _, n := range all(doc) {
		switch n := n.(type) {
		case *ast.Link:
			errs = append(errs, s.leadLink(p, n, source))
		case *ast.Image:
			errs = append(errs, s.leadImage(p, n))
		}
	}
	return errors.Join(errs...)
}

func (s *site) leadLink(p *page, n *ast.Link, source []byte) error {
	written := string(n.Destination)
	if elsewhere(written) {
		return nil
	}
	file, anchor, found := s.resolve(p, written)
	switch to, isPage := s.pages[file]; {
	case !found:
		return fmt.Errorf("the link to %s leads to nothing in the tree", written)
	case isPage:
		p.links = append(p.links, link{written, file, anchor})
		n.Destination = []byte(destination(p, to.target, anchor))
	case slices.Contains(pictureTypes, path.Ext(file)):
		s.pictures[file] = true
		n.Destination = []byte(destination(p, file, anchor))
	default:
		unlink(n, file, plain(n, source))
	}
	return nil
}

func (s *site) leadImage(p *page, n *ast.Image) error {
	written := string(n.Destination)
	file, _, found := s.resolve(p, written)
	switch {
	case elsewhere(written):
		return fmt.Errorf("the picture %s needs a network: put a copy into docs/pictures", written)
	case !found || !slices.Contains(pictureTypes, path.Ext(file)):
		return fmt.Errorf("the picture %s is none in the tree: one ends in %s",
			written, strings.Join(pictureTypes, ", "))
	}
	s.pictures[file] = true
	n.Destination = []byte(relative(p.target, file))
	return nil
}

// elsewhere reports whether a link leaves the tree.
func elsewhere(written string) bool {
	return strings.Contains(written, "://") || strings.HasPrefix(written, "mailto:")
}

// resolve finds the file of the tree that a page means, and the heading. A folder with a page of its own is that page.
func (s *site) resolve(p *page, written string) (file, anchor string, found bool) {
	name, anchor, _ := strings.Cut(written, "#")
	if name == "" {
		return p.source, anchor, true
	}
	file = path.Join(path.Dir(p.source), name)
	if index := path.Join(file, front); s.pages[index] != nil {
		return index, anchor, true
	}
	_, err := fs.Stat(s.tree, file)
	return file, anchor, err == nil && !path.IsAbs(name)
}

func destination(p *page, to, anchor string) string {
	way := relative(p.target, to)
	switch {
	case anchor == "":
		return way
	case to == p.target:
		way = ""
	}
	return way + "#" + anchor
}

// unlink puts the text of a link in its place, and the path after it if the text does not name that.
func unlink(n *ast.Link, file, label string) {
	parent := n.Parent()
	for n.FirstChild() != nil {
		parent.InsertBefore(parent, n, n.FirstChild())
	}
	if !strings.Contains(file, label) && !strings.Contains(label, file) {
		parent.InsertBefore(parent, n, ast.NewString([]byte(" ("+file+")")))
	}
	parent.RemoveChild(parent, n)
}

// check says which links lead to headings that are not there.
func (s *site) check() error {
	var errs []error
	for _, p := range s.inOrder() {
		for _, l := range p.links {
			if l.anchor != "" && !s.pages[l.to].has(l.anchor) {
				errs = append(errs,
					fmt.Errorf("%s: the link to %s leads to no heading of %s", p.source, l.written, l.to))
			}
		}
	}
	return errors.Join(errs...)
}

func (p *page) has(anchor string) bool {
	return slices.ContainsFunc(p.headings, func(h heading) bool { return h.Anchor == anchor })
}
