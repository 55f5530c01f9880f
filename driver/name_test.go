package driver_test

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

func TestEncodeName(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, tt := range []struct {
		name   string
		maxLen int
		want   string
	}{
		{"orders-42_a", 0, "orders-42_a"},
		{"v1.2", 0, "v1.2"},
		{".hidden", 0, "%2Ehidden"},
		{"..", 0, "%2E."},
		{"a/b", 0, "a%2Fb"},
		{"{a}", 0, "%7Ba%7D"},
		{"100%", 0, "100%25"},
		{"~x", 0, "%7Ex"},
		{"é", 0, "%C3%A9"},
		{"\x00\n *", 0, "%00%0A%20%2A"},
		{long, 100, long},
		{long, 99, "~09ecb6ebc8bcefc733f6f2ec44f791abeed6a99edf0cc31519637898aebd52d8"},
		{strings.Repeat("/", 34), 100, "~1f62aeee9540aa9022a24e0c65a754e3434d310c30a4ecc682361bde1e7a8760"},
	} {
		if got := driver.EncodeName(tt.name, tt.maxLen); got != tt.want {
			t.Errorf("EncodeName(%q, %d) = %q, want %q", tt.name, tt.maxLen, got, tt.want)
		}
	}
}

func TestDecodeName(t *testing.T) {
	for _, hashed := range []string{"~", driver.EncodeName(strings.Repeat("x", 100), 65)} {
		if name, ok := driver.DecodeName(hashed); ok {
			t.Errorf("DecodeName(%q) = %q, though that cannot be told", hashed, name)
		}
	}
	if name, ok := driver.DecodeName("%zz"); ok {
		t.Errorf("DecodeName made %q of what EncodeName never makes", name)
	}
}

// FuzzEncodeName: two names are encoded alike only when they are the same, and with nothing but harmless bytes.
func FuzzEncodeName(f *testing.F) {
	for _, pair := range [][2]string{
		{"a", "a/b"}, {"a", "A"}, {"a", "%61"}, {"%2F", "/"}, {".", "%2E"}, {"a.b", "a%2Eb"},
		{"é", "e\u0301"}, {"\xff", "\xfe"}, {"", "\x00"}, {"~x", "x"},
		{strings.Repeat("x", 80), "~" + strings.Repeat("0", 64)},
		{strings.Repeat("/", 40), strings.Repeat("/", 41)},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, maxLen := range []int{0, 65, 200} {
			encoded := driver.EncodeName(a, maxLen)
			harmless(t, encoded, maxLen)
			if name, ok := driver.DecodeName(encoded); ok && name != a || !ok && len(encoded) != 65 {
				t.Errorf("EncodeName(%q, %d) = %q, which decodes to %q, %v", a, maxLen, encoded, name, ok)
			}
			if a != b && encoded == driver.EncodeName(b, maxLen) {
				t.Errorf("%q and %q are both encoded as %q", a, b, encoded)
			}
		}
	})
}

func harmless(t *testing.T, encoded string, maxLen int) {
	t.Helper()
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.%"
	for _, c := range []byte(strings.TrimPrefix(encoded, "~")) {
		if !strings.Contains(allowed, string(rune(c))) {
			t.Errorf("%q has a byte that means something: %q", encoded, c)
		}
	}
	if strings.HasPrefix(encoded, ".") {
		t.Errorf("%q begins with a dot, which hides files and climbs folders", encoded)
	}
	if maxLen > 0 && len(encoded) > maxLen {
		t.Errorf("%q has %d bytes, allowed are %d", encoded, len(encoded), maxLen)
	}
}
