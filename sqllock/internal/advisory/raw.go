package advisory

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/driver"
)

// Raw is a dialect in which names are the server's own: those of locks that other programs use, too.
func (d *Dialect) Raw() *Dialect {
	raw := *d
	raw.rows = rawRows
	raw.key, raw.refuse = rawName, refuseLong
	if d.Name == Postgres.Name {
		raw.key, raw.held, raw.refuse = func(name string) string { return name }, heldRaw, refuseText
	}
	return &raw
}

// rawRows begins the names in the tables of locks that are the server's own: one of Holdfast's own with the same name
// is another lock.
const rawRows = "\x00raw\x00"

// mostRaw is how many characters the name of a lock has in MySQL at most.
const mostRaw = 64

// rawName is text, in which case does not count: bytes would be another lock.
func rawName(name string) string {
	return "CONVERT(x'" + hex.EncodeToString([]byte(name)) + "' USING utf8mb4)"
}

func refuseLong(name string) error {
	if n := utf8.RuneCountInString(name); n > mostRaw || !utf8.ValidString(name) {
		return fmt.Errorf("%w: %q has %d characters; GET_LOCK takes text of %d",
			driver.ErrInvalidName, name, n, mostRaw)
	}
	return nil
}

// heldRaw is about a name that is not refused.
func heldRaw(name string) string {
	number, _ := strconv.ParseInt(name, 10, 64)
	return heldKey(number)
}

// refuseText refuses other ways to write a number, too: two names for one lock would have tokens of their own.
func refuseText(name string) error {
	if number, err := strconv.ParseInt(name, 10, 64); err != nil || strconv.FormatInt(number, 10) != name {
		return fmt.Errorf("%w: %q is not the number of a lock; pg_advisory_lock takes one like 1764327054 or -5",
			driver.ErrInvalidName, name)
	}
	return nil
}
