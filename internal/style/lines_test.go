package style

import (
	"go/scanner"
	"go/token"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/internal/files"
)

// widest is how many columns a line has at most; a tab counts as four.
const widest = 120

func TestLines(t *testing.T) {
	for name, text := range files.EndingIn(t, ".go") {
		for _, n := range longLines(text) {
			t.Errorf("%s:%d has more than %d columns", name, n, widest)
		}
	}
}

// longLines returns the numbers of lines that are too long. Lines of raw strings are text for others, and may be.
func longLines(source string) (numbers []int) {
	for i, line := range strings.Split(source, "\n") {
		if utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) > widest {
			numbers = append(numbers, i+1)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	raw := rawLines(source)
	return slices.DeleteFunc(numbers, func(n int) bool { return raw[n] })
}

// rawLines returns the lines on which raw strings of several lines are, by number.
func rawLines(source string) map[int]bool {
	lines := make(map[int]bool)
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), nil, 0)
	for {
		at, kind, text := s.Scan()
		switch {
		case kind == token.EOF:
			return lines
		case kind == token.STRING && strings.Contains(text, "\n"):
			first := file.Line(at)
			for n := range strings.Count(text, "\n") + 1 {
				lines[first+n] = true
			}
		}
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", widest-1)
	for name, row := range map[string]struct {
		source string
		want   bool
	}{
		"fits":            {"// " + long[:widest-3], false},
		"too long":        {"// " + long, true},
		"a tab is four":   {"\t//" + long[:widest-5], true},
		"a letter is one": {"// " + strings.Repeat("é", widest-3), false},
		"a short raw one": {"var x = `" + long + "`", true},
		"text":            {"var x = `\n" + long + long + "\n`", false},
	} {
		if got := len(longLines("package p\n"+row.source+"\n")) > 0; got != row.want {
			t.Errorf("%s: too long is %v, want %v", name, got, row.want)
		}
	}
}
