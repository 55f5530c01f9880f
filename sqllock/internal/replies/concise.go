package replies

import (
	"slices"
	"strings"
)

// concise is an error in whose text no cause comes twice. Pgx has a line for each attempt to connect, of which it makes
// one with TLS and one without to each address.
func concise(err error) error {
	if err == nil || !strings.Contains(err.Error(), "\n") {
		return err
	}
	return &attempts{err}
}

type attempts struct{ error }

func (a *attempts) Error() string {
	var causes []string
	for line := range strings.Lines(a.error.Error()) {
		cause := strings.TrimSpace(line)
		if _, dialed, ok := strings.Cut(cause, ": dial error: "); ok {
			cause = dialed // which names the address, too
		}
		if !slices.Contains(causes, cause) {
			causes = append(causes, cause)
		}
	}
	return strings.ReplaceAll(strings.Join(causes, "; "), ":; ", ": ")
}

func (a *attempts) Unwrap() error { return a.error }
