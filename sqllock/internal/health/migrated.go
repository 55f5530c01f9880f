package health

import (
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// NotMigrated is the error where tables or routines that this version needs are missing, for a reason that the server
// or a look at them has given.
func NotMigrated(reason error) error {
	if said, _ := dbms.Said(reason); said != nil {
		return &driver.ServerError{Effect: driver.Refused, Words: said.Error(), Advice: lacking, Err: reason}
	}
	return fmt.Errorf("%w: %w; %s", driver.ErrRefused, reason, lacking)
}

const lacking = "the database lacks tables or routines that this version needs; create them with: holdfast migrate, " +
	"or sqllock.Migrate"

// OtherFormat is the error where a newer program has changed the format of the tables.
func OtherFormat(found, known int) error {
	return fmt.Errorf("%w: the tables have format %d, but this program knows only format %d; upgrade this program",
		driver.ErrRefused, found, known)
}
