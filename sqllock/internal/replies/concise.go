package replies

import "strings"

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
	said := ""
	for line := range strings.Lines(a.error.Error()) {
		cause := strings.TrimSpace(line)
		if _, dialed, ok := strings.Cut(cause, ": dial error: "); ok {
			cause = dialed // which names the address, too
		}
		switch {
		case strings.Contains(said, cause):
		case said == "" || strings.HasSuffix(said, ":"):
			said = strings.TrimSpace(said + " " + cause)
		default:
			said += "; " + cause
		}
	}
	return said
}

func (a *attempts) Unwrap() error { return a.error }
