package main

import (
	"strings"
	"testing"
)

// Columns stand below each other whatever characters are in them.
func TestTableAlignsWideCharacters(t *testing.T) {
	names := []string{"plain", "日本語", "ﾊﾝｶｸ", "ｆｕｌｌ", "한국어", "e\u0301te\u0301", "Ωμέγα", "🔒lock"}
	tb := &table{}
	tb.add("NAME", "OWNER")
	for _, name := range names {
		tb.add(name, "end")
	}
	widths := tb.widths()
	for _, row := range tb.rows[1:] {
		line := align(row, widths)
		if got := columns(strings.TrimSuffix(line, "end")); got != 8+2 {
			t.Errorf("%q: the second column begins in column %d, want 10", line, got)
		}
	}
}

func TestColumns(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "日本語": 6, "ﾊﾝ": 2, "Ａ": 2, "e\u0301": 1, "é": 1, "🔒": 2, "…": 1, "한": 2,
	} {
		if got := columns(s); got != want {
			t.Errorf("%q: %d columns, want %d", s, got, want)
		}
	}
}

// The line that shows a wait never wraps.
func TestTruncateByColumns(t *testing.T) {
	for s, want := range map[string]string{
		"abcdef": "abcdef", "abcdefg": "abcde…", "日本語": "日本語", "日本語だ": "日本…", "abcd日x": "abcd…",
		"e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301": "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301",
	} {
		if got := truncate(s, 6); got != want || columns(got) > 6 {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
	}
}
