package advisory

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/driver"
)

// rawRows begins the names in the tables of locks that are the server's own: one of Holdfast's own with the same name
// is another lock.
const rawRows = "\x00raw\x00"

// row is the name of a lock in the tables.
func (d *Driver) row(name string) string {
	if d.raw {
		return rawRows + name
	}
	return name
}

// mostRaw is how many characters the name of a lock has in MySQL at most.
const mostRaw = 64

func refuseLong(name string) error {
	if n := utf8.RuneCountInString(name); n > mostRaw || !utf8.ValidString(name) {
		return fmt.Errorf("%w: %q has %d characters; GET_LOCK takes text of %d",
			driver.ErrInvalidName, name, n, mostRaw)
	}
	return nil
}

// refuseText refuses other ways to write a number, too: two names for one lock would have tokens of their own.
func refuseText(name string) error {
	if number, err := strconv.ParseInt(name, 10, 64); err != nil || strconv.FormatInt(number, 10) != name {
		return fmt.Errorf("%w: %q is not the number of a lock; pg_advisory_lock takes one like 1764327054 or -5",
			driver.ErrInvalidName, name)
	}
	return nil
}
