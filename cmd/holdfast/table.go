package main

import (
	"fmt"
	"os"
	"strings"
)

// A table is printed in columns, with a bold head on a terminal.
type table struct {
	rows [][]string
}

func (t *table) add(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = printable(cell)
	}
	t.rows = append(t.rows, row)
}

func (t *table) print(f *os.File) error {
	for i, line := range t.lines() {
		if i == 0 {
			line = bold(f, line)
		}
		if _, err := fmt.Fprintln(f, line); err != nil {
			return err
		}
	}
	return nil
}

// lines are the head and the rows as they are printed.
func (t *table) lines() []string {
	widths := t.widths()
	lines := make([]string, len(t.rows))
	for i, row := range t.rows {
		lines[i] = align(row, widths)
	}
	return lines
}

func (t *table) widths() []int {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	return widths
}

// align pads all cells but the last.
func align(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row[:len(row)-1] {
		b.WriteString(cell)
		b.WriteString(strings.Repeat(" ", widths[i]-columns(cell)+2))
	}
	b.WriteString(row[len(row)-1])
	return b.String()
}
