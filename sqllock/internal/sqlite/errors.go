package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// explain marks an error after which asking again does not help.
func explain(err error) error {
	if err == nil || errors.Is(err, driver.ErrRefused) || !isRefusal(err) {
		return err
	}
	return fmt.Errorf("%w: %w; check the file, its folder and their permissions", driver.ErrRefused, err)
}

// Primary result codes of SQLite: https://sqlite.org/rescode.html.
const (
	codePerm     = 3
	codeBusy     = 5 // BUSY_RECOVERY and BUSY_SNAPSHOT among them
	codeLocked   = 6
	codeReadOnly = 8
	codeCorrupt  = 11
	codeCantOpen = 14
	codeProtocol = 15 // too many opened the write-ahead log at once
	codeAuth     = 23
	codeNotADB   = 26
)

// IsBusy reports whether an error means that nothing was done because others were in the way, so that it can be
// repeated. It knows the texts, too, for SQL drivers that do not tell codes.
func IsBusy(err error) bool {
	switch code, ok := codeOf(err); {
	case ok:
		return code == codeBusy || code == codeLocked || code == codeProtocol
	default:
		return hasText(err,
			"database is locked", "database table is locked", "database schema is locked", "locking protocol")
	}
}

// isRefusal reports whether an error means that asking again does not help.
func isRefusal(err error) bool {
	switch code, ok := codeOf(err); {
	case ok:
		return slices.Contains([]int{codePerm, codeReadOnly, codeCorrupt, codeCantOpen, codeAuth, codeNotADB}, code)
	default:
		return hasText(err,
			"readonly database", "disk image is malformed", "unable to open database file", "file is not a database")
	}
}

// codeOf returns the primary result code of an error, if the SQL driver tells it.
func codeOf(err error) (code int, ok bool) {
	var coded interface{ Code() int }
	if !errors.As(err, &coded) {
		return 0, false
	}
	return coded.Code() & 0xff, true
}

func hasText(err error, texts ...string) bool {
	for _, text := range texts {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}
