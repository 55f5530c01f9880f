package driver

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
)

// EncodeName turns the name of a lock into letters, digits, '-', '_', '.' and '%', for engines in whose keys
// other bytes have a meaning. Different names never become the same: a byte that is not allowed becomes '%' and two
// hexadecimal digits, and a name that would become longer than maxLen becomes '~' and its SHA-256 in hexadecimal.
// maxLen is at least 65, or 0 for no bound.
func EncodeName(name string, maxLen int) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if isWordByte(c) || c == '.' && b.Len() > 0 {
			b.WriteByte(c)
		} else {
			const digits = "0123456789ABCDEF"
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	if maxLen == 0 || b.Len() <= maxLen {
		return b.String()
	}
	sum := sha256.Sum256([]byte(name))
	return "~" + hex.EncodeToString(sum[:])
}

// DecodeName returns the name that EncodeName encoded. ok is false if s has only the hash of a name, or is no encoded
// name.
func DecodeName(s string) (name string, ok bool) {
	if strings.HasPrefix(s, "~") {
		return "", false
	}
	name, err := url.PathUnescape(s)
	return name, err == nil
}

// isWordByte reports whether a byte means nothing special in the keys of any engine.
func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}
