package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// A mutant is a file with one small change that was generated.
type mutant struct {
	file    string // in the tree
	kind    string
	line    int    // from 1
	hash    string // of what the lines were in which it begins and ends, and of which change to them it is
	from    int    // bytes from here
	to      int    // to here are replaced
	instead string
	source  string // the file as it was
}

// name is what a mutant is called, also after other lines of its file have changed, but for the number of the line.
func (m mutant) name() string { return fmt.Sprintf("%s:%d:%s:%s", m.file, m.line, m.kind, m.hash) }

// key is the part of the name that stays.
func (m mutant) key() string { return m.file + ":" + m.kind + ":" + m.hash }

// content is the file with the change.
func (m mutant) content() string { return m.source[:m.from] + m.instead + m.source[m.to:] }

// before and after are the lines of the change, for people.
func (m mutant) before() string {
	from, to := m.around()
	return strings.TrimSpace(m.source[from:to])
}

func (m mutant) after() string {
	from, to := m.around()
	return strings.TrimSpace(m.source[from:m.from] + m.instead + m.source[m.to:to])
}

// around is where the lines begin and end in which the change is.
func (m mutant) around() (from, to int) {
	from = strings.LastIndexByte(m.source[:m.from], '\n') + 1
	to = len(m.source)
	if end := strings.IndexByte(m.source[m.to:], '\n'); end >= 0 {
		to = m.to + end
	}
	return from, to
}

// named gives mutants of one file, in the order of their places, their lines and hashes.
func named(file, source string, found []mutant) []mutant {
	slices.SortStableFunc(found, func(a, b mutant) int { return cmp.Compare(a.from, b.from) })
	seen := make(map[string]int)
	for i := range found {
		m := &found[i]
		m.file, m.source = file, source
		m.line = 1 + strings.Count(source[:m.from], "\n")
		text := m.kind + "\x00" + m.before() + "\x00" + m.after()
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", text, seen[text]))
		seen[text]++
		m.hash = fmt.Sprintf("%x", sum[:4])
	}
	return found
}

// blank is text of as many lines that says nothing, so that the lines below keep their numbers.
func blank(text string) string { return strings.Repeat("\n", strings.Count(text, "\n")) }
