package sqlite

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// format is the version of the tables. When a database is opened, one script makes the tables of format 1, and others
// bring them from each format to the next. So this program reads older formats by bringing them forward; programs
// that know only an older one then refuse to work, as this one does with a newer one.
const (
	format    = 2
	oldFormat = 1
)

// setUp makes the tables, or brings them to this format and to this boot. The client has not joined yet: otherwise
// clients that come together after a boot would take each other for those of another boot, and refuse to work.
func (d *Driver) setUp(ctx context.Context) error {
	return d.conn.write(ctx, asking, func(ctx context.Context) error {
		t := &tx{d: d}
		t.start(ctx)
		found, err := t.foundFormat()
		isNew := found == 0
		for ; err == nil && found < format; found++ {
			err = t.run(formatScript + statement(fmt.Sprint(found+1)))
		}
		if err == nil {
			err = t.run(makeBoots)
		}
		if err == nil {
			err = t.run(makeValues)
		}
		switch {
		case err != nil:
			return err
		case isNew: // if clients live, they are those of a file that was removed
			return t.setBoot()
		}
		if err := t.open(); err != nil {
			return err
		}
		return t.noteBegan()
	}, func() {})
}

// foundFormat returns the format of the tables, or 0 if there are none.
func (t *tx) foundFormat() (found int, err error) {
	var exists bool
	if _, err := t.get(hasStore, nil, &exists); err != nil || !exists {
		return 0, err
	}
	var boot string
	if _, err = t.get(readStore, nil, &found, &boot); err != nil {
		return 0, err
	}
	if found < oldFormat {
		return 0, t.d.refuseFormat(found, "open it once with an older version of this program, or name another file")
	}
	return found, t.d.refuseNewer(found)
}

// check refuses a file that is not the one that was opened, or that a newer program has changed meanwhile.
func (t *tx) check() error {
	if err := t.d.database.check(); err != nil {
		return err
	}
	var found int
	var boot string
	if _, err := t.get(readStore, nil, &found, &boot); err != nil {
		return err
	}
	if err := t.d.refuseNewer(found); err != nil {
		return err
	}
	if boot != t.d.machine.boot {
		return errOtherBoot
	}
	return nil
}

func (d *Driver) refuseNewer(found int) error {
	if found <= format {
		return nil
	}
	return d.refuseFormat(found, "upgrade this program")
}

func (d *Driver) refuseFormat(found int, advice string) error {
	return fmt.Errorf("%w: %s is in format %d, and this program knows formats %d to %d; %s",
		driver.ErrRefused, d.database.path, found, oldFormat, format, advice)
}
