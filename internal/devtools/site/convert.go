package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(tables{}, 1))),
)

// convert makes a page of its file.
func (s *site) convert(p *page) error {
	source, err := fs.ReadFile(s.tree, p.source)
	if err != nil {
		return err
	}
	doc := markdown.Parser().Parse(text.NewReader(source))
	p.headings = headings(doc, source)
	if len(p.headings) == 0 || p.headings[0].Level != 1 {
		return errors.New(`the page does not begin with a title: "# ..."`)
	}
	p.sections = sections(doc, source, p.headings)
	errs := []error{withoutHTML(doc, source), s.lead(p, doc, source)}
	linkHeadings(p.headings)
	var body bytes.Buffer
	errs = append(errs, markdown.Renderer().Render(&body, source, doc))
	p.body = body.Bytes()
	return errors.Join(errs...)
}

// withoutHTML refuses what goldmark would leave out without a word.
func withoutHTML(doc ast.Node, source []byte) error {
	var errs []error
	for _, n := range all(doc) {
		var found string
		switch n := n.(type) {
		case *ast.RawHTML:
			found = string(n.Segments.Value(source))
		case *ast.HTMLBlock:
			found = string(n.Lines().Value(source))
		}
		if found = strings.TrimSpace(found); found != "" && !strings.HasPrefix(found, "<!--") {
			errs = append(errs, fmt.Errorf("HTML in a page is not shown: put %q into backquotes", found))
		}
	}
	return errors.Join(errs...)
}

// all lists a node and all below it, in the order of the text. What is changed later does not change the list.
func all(top ast.Node) (nodes []ast.Node) {
	_ = ast.Walk(top, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			nodes = append(nodes, n)
		}
		return ast.WalkContinue, nil
	})
	return nodes
}

// tables renders tables into boxes that scroll, since they may be wider than a phone.
type tables struct{}

func (tables) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(extended.KindTable, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		tags := "</table></div>\n"
		if entering {
			tags = `<div class="scroll"><table>` + "\n"
		}
		_, err := w.WriteString(tags)
		return ast.WalkContinue, err
	})
}
