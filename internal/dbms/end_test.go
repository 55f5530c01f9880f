package dbms

import (
	"strings"
	"testing"
)

// Of strings in their order, those that begin with a prefix are the ones from it to its end.
func TestEnd(t *testing.T) {
	all := []string{
		"", "\x00", "a", "a\x00", "a%", "aé", "a\xfe", "a\xff", "a\xff\x00", "a\xff\xff", "b", "é",
		"\xc3", "☃", "\xfe", "\xff", "\xffa", "\xff\xff",
	}
	for _, prefix := range all {
		end := End(prefix)
		for _, s := range all {
			if between := s >= prefix && (end == "" || s < end); between != strings.HasPrefix(s, prefix) {
				t.Errorf("%q is between %q and %q: %t", s, prefix, end, between)
			}
		}
	}
}
