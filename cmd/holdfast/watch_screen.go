package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A screen is a terminal on which queues are drawn anew, in the place where they were.
type screen struct {
	out   *os.File
	draw  func([]view) []string // its first line is the head
	lines []string              // what was drawn last
	rows  int                   // and how many rows of the terminal that took
}

// isScreen reports whether f is a terminal on which something can be drawn anew.
func isScreen(f *os.File) bool { return isTerminal(f) && os.Getenv("TERM") != "dumb" }

func (s *screen) update(views []view) error {
	s.lines = s.draw(views)
	return s.redraw(s.lines)
}

// outage leaves what was seen last, and says below that this is not known any more.
func (s *screen) outage(err error) error {
	return s.redraw(append(s.lines[:len(s.lines):len(s.lines)], "holdfast: "+printable(oneLine(err.Error()))))
}

// Size of a terminal that does not tell it.
const usualWidth, usualHeight = 80, 24

// redraw draws lines over those that were drawn before. What does not fit is left out, since it would scroll away.
func (s *screen) redraw(lines []string) error {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width < 2 || height < 2 {
		width, height = usualWidth, usualHeight
	}
	var b strings.Builder
	if s.rows > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.rows) // up
	}
	b.WriteString("\r\x1b[J") // clear to the end
	lines = fit(lines, height-1)
	for i, line := range lines {
		line = truncate(line, width-1)
		if i == 0 {
			line = bold(s.out, line)
		}
		b.WriteString(line + "\n")
	}
	s.rows = len(lines)
	_, err = io.WriteString(s.out, b.String())
	return err
}

// fit leaves out what is more than so many lines, and says so.
func fit(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	shown := lines[:max(most-1, 0)]
	return append(shown[:len(shown):len(shown)], fmt.Sprintf("… and %d more", len(lines)-len(shown)))
}
