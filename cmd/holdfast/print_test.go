package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// controls are characters that terminals obey, of seven bits, of eight, and as a byte that is no UTF-8.
var controls = []string{"\x00", "\a", "\b", "\x1b[2J", "\x7f", "\u0080", "\u0090", "\u009b2J", "\u009f", "\x9b2J",
	"\u202e", "\u2028", "\u200b", "\ufeff", "\u2066", "\U000e0001"}

// Nothing that others wrote controls the terminal, in text or in JSON, and JSON still means the same.
func TestNothingControlsTheTerminal(t *testing.T) {
	for _, c := range controls {
		given := "a" + c + "b"
		if shown := printable(given); controlled(shown) {
			t.Errorf("%q is shown as %q", given, shown)
		}
		var out bytes.Buffer
		if err := printJSON(&out, map[string]string{given: given}); err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSuffix(out.String(), "\n")
		if controlled(line) {
			t.Errorf("%q is %q in JSON", given, line)
		}
		var back map[string]string
		want := strings.ToValidUTF8(given, "\ufffd")
		if err := json.Unmarshal([]byte(line), &back); err != nil || back[want] != want {
			t.Errorf("%q comes back as %q, %v", given, back, err)
		}
	}
}

func controlled(s string) bool {
	return strings.ContainsFunc(strings.ReplaceAll(s, "\ufffd", "?"),
		func(r rune) bool { return !unicode.IsPrint(r) }) ||
		strings.ToValidUTF8(s, "") != s
}
