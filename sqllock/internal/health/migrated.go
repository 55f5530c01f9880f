package health

import (
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// NotMigrated is the error where tables or routines that this version needs are missing, for a reason that the server
// or a look at them has given.
func NotMigrated(reason error) error {
	if _, said := dbms.Said(reason); said != nil {
		return &driver.ServerError{Effect: driver.Refused, Words: said.Error(), Advice: lacking, Err: reason}
	}
	return fmt.Errorf("%w: %w; %s", driver.ErrRefused, reason, lacking)
}

const lacking = "the database lacks tables or routines that this version needs; create them with: holdfast migrate, " +
	"or sqllock.Migrate"

// Format is the version of all tables in a database.
const Format = 1

// CheckFormat refuses tables that a program of another version has made, or whose migration was not completed.
func CheckFormat(found int) error {
	switch {
	case found < Format:
		return NotMigrated(errors.New("a migration was not completed"))
	case found > Format:
		return otherVersion("tables have format", "format", found, Format)
	}
	return nil
}

// OtherRevision is the error where a program of another version has made the routines.
func OtherRevision(found, known int) error {
	return otherVersion("routines have revision", "revision", found, known)
}

func otherVersion(made, what string, found, known int) error {
	return fmt.Errorf("%w: the %s %d, but this program knows %s %d; run the same version of holdfast everywhere,"+
		" or use another database", driver.ErrRefused, made, found, what, known)
}
