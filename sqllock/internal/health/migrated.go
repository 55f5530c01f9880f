package health

import (
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// NotMigrated is the error where tables or routines that this version needs are missing, for a reason that the server
// or a look at them has given.
func NotMigrated(reason error) error {
	return fmt.Errorf("%w: the database lacks tables or routines that this version needs (%w);"+
		" create them with: holdfast migrate, or sqllock.Migrate", driver.ErrRefused, reason)
}

// OtherFormat is the error where a newer program has changed the format of the tables.
func OtherFormat(found, known int) error {
	return fmt.Errorf("%w: the tables have format %d, but this program knows only format %d; upgrade this program",
		driver.ErrRefused, found, known)
}
