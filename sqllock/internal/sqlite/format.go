package sqlite

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// format is the number of the format of the tables. A file of another format is refused.
const format = 1

// setUp makes the tables if there are none, and brings them to this boot. The client has not joined yet: otherwise
// clients that come together after a boot would take each other for those of another boot, and refuse to work.
func (d *Driver) setUp(ctx context.Context) error {
	return d.change(ctx, func(t *tx) error {
		exists, err := t.hasTables()
		if err != nil {
			return err
		}
		if !exists { // if clients live, they are those of a file that was removed
			if err := t.script(makeTables); err != nil {
				return err
			}
			return t.setBoot()
		}
		if err := t.open(); err != nil {
			return err
		}
		return t.noteBegan()
	})
}

// hasTables reports whether there are tables. Those of another format are refused.
func (t *tx) hasTables() (exists bool, err error) {
	if _, err := t.get(hasStore, nil, &exists); err != nil || !exists {
		return false, err
	}
	_, err = t.boot()
	return err == nil, err
}

// boot returns the boot that the deadlines in the tables belong to, and reads base and floor of tokens. Tables of
// another format are refused.
func (t *tx) boot() (boot string, err error) {
	var found int
	if _, err := t.get(readStore, nil, &found, &boot, &t.base, &t.floor); err != nil {
		return "", err
	}
	if found != format {
		return "", fmt.Errorf("%w: %s is in format %d, and this program knows format %d; run the same version of "+
			"holdfast everywhere, or name another file", driver.ErrRefused, t.d.database.path, found, format)
	}
	return boot, nil
}

// check refuses a file that is not the one that was opened, or that another program has changed meanwhile.
func (t *tx) check() error {
	if err := t.d.database.check(); err != nil {
		return err
	}
	boot, err := t.boot()
	if err != nil {
		return err
	}
	if boot != t.d.machine.boot {
		return errOtherBoot
	}
	return nil
}
