package main

import (
	"unicode"

	"golang.org/x/text/width"
)

// columns is how many columns of a terminal a text takes: characters of East Asia take two, marks that combine with the
// character before them take none.
func columns(s string) (n int) {
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}
