package main

import (
	"html"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// A heading is one of a page, with the anchor that GitHub gives it.
type heading struct {
	Level        int
	Text, Anchor string
	node         *ast.Heading
}

func headings(doc ast.Node, source []byte) (found []heading) {
	seen := make(map[string]int)
	for _, n := range all(doc) {
		if h, ok := n.(*ast.Heading); ok {
			title := plain(h, source)
			found = append(found, heading{h.Level, title, numbered(anchor(title), seen), h})
		}
	}
	return found
}

// anchor is a heading in small letters, with dashes for spaces and without other signs.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// numbered tells headings of the same text apart: the second of them gets "-1".
func numbered(anchor string, seen map[string]int) string {
	n := seen[anchor]
	seen[anchor]++
	if n == 0 {
		return anchor
	}
	return numbered(anchor+"-"+strconv.Itoa(n), seen)
}

// linkHeadings gives each heading its anchor, and each below the title a link to itself.
func linkHeadings(hs []heading) {
	for _, h := range hs {
		h.node.SetAttributeString("id", []byte(h.Anchor))
		if h.Level == 1 {
			continue
		}
		self := ast.NewLink()
		self.Destination = []byte("#" + h.Anchor)
		self.SetAttributeString("class", []byte("anchor"))
		self.SetAttributeString("aria-label", []byte("Link to this section"))
		self.AppendChild(self, ast.NewString([]byte("#")))
		h.node.AppendChild(h.node, self)
	}
}

// plain is the text of a node as a reader sees it, on one line.
func plain(top ast.Node, source []byte) string {
	var b strings.Builder
	for _, n := range all(top) {
		switch n := n.(type) {
		case *ast.Text:
			b.WriteString(shown(n, source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.AutoLink:
			b.Write(n.Label(source))
		}
	}
	return strings.TrimSpace(b.String())
}

// shown is a text without its escapes. In code there are none.
func shown(n *ast.Text, source []byte) string {
	value := n.Value(source)
	if n.Parent().Kind() == ast.KindCodeSpan {
		return strings.ReplaceAll(string(value), "\n", " ")
	}
	return html.UnescapeString(string(util.UnescapePunctuations(value)))
}
