package main

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"
)

// A section is what follows a heading until the next: what a search finds.
type section struct {
	Page    string `json:"page"` // its file in the site
	Title   string `json:"title"`
	Heading string `json:"heading"` // the title again in the first of a page
	Anchor  string `json:"anchor"`
	Text    string `json:"text"` // a line for each paragraph, row of a table and line of code
}

// sections cuts a page at its headings.
func sections(doc ast.Node, source []byte, hs []heading) (found []section) {
	var lines []string
	end := func() {
		if len(found) > 0 {
			found[len(found)-1].Text = strings.Join(lines, "\n")
		}
		lines = nil
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if _, ok := n.(*ast.Heading); ok {
			end()
			h := hs[len(found)]
			found = append(found, section{Title: hs[0].Text, Heading: h.Text, Anchor: h.Anchor})
			continue
		}
		lines = append(lines, linesOf(n, source)...)
	}
	end()
	return found
}

// linesOf lists what a search looks at in a block.
func linesOf(block ast.Node, source []byte) (lines []string) {
	for _, n := range all(block) {
		switch n.Kind() {
		case ast.KindParagraph, ast.KindTextBlock:
			lines = append(lines, plain(n, source))
		case ast.KindFencedCodeBlock, ast.KindCodeBlock:
			code := strings.TrimSpace(string(n.Lines().Value(source)))
			lines = append(lines, strings.Split(code, "\n")...)
		case extended.KindTableRow, extended.KindTableHeader:
			lines = append(lines, row(n, source))
		}
	}
	return lines
}

func row(n ast.Node, source []byte) string {
	var cells []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		cells = append(cells, plain(c, source))
	}
	return strings.Join(cells, " | ")
}
