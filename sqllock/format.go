package sqllock

import (
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// A file in a newer format is refused, since its rows may mean something that this program does not know. One in the
// previous format is used as it is, so that programs can be updated one after the other.

// makeTables makes the tables where there are none.
func (t *tx) makeTables() error {
	found, err := t.format()
	if err != nil || found > 0 {
		return err
	}
	if _, err := t.d.conn.ExecContext(t.ctx, schema.text()); err != nil {
		return err
	}
	_, err = t.d.conn.ExecContext(t.ctx, fmt.Sprintf("PRAGMA user_version = %d", t.d.format))
	return err
}

// format reads the version of the file, and refuses what this program cannot read; 0 is an empty file.
func (t *tx) format() (found int, err error) {
	if err := t.d.conn.QueryRowContext(t.ctx, "PRAGMA user_version").Scan(&found); err != nil {
		return 0, err
	}
	switch {
	case found > t.d.format:
		return 0, fmt.Errorf("%w: %s has format %d, newer than the %d that this program knows; update the program",
			driver.ErrRefused, t.d.path, found, t.d.format)
	case 0 < found && found < t.d.format-1:
		return 0, fmt.Errorf("%w: %s has format %d, too old for this program; open it with the version before, or use a new file",
			driver.ErrRefused, t.d.path, found)
	}
	return found, nil
}
