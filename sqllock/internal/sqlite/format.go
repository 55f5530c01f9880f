package sqlite

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// format is the number of the format of the tables. A file of another format is refused.
const format = 1

// setUp makes the folder and the tables if there are none, brings them to this boot, and has the client join: not
// before, or clients that come together after a boot would take each other for those of another boot, and refuse to
// work.
func (d *Driver) setUp(ctx context.Context) error {
	return d.change(ctx, func(t *tx) error {
		if d.database.folder == nil {
			f, err := makeFolder(d.database.folderPath(), d.database.share)
			if err != nil {
				return err
			}
			d.use(f)
		}
		if err := t.setUpTables(); err != nil {
			return err
		}
		if err := d.client.join(d.database.folder); err != nil {
			return err
		}
		return t.sweep()
	})
}

func (t *tx) setUpTables() error {
	var exist bool
	if _, err := t.get(hasStore, nil, &exist); err != nil {
		return err
	}
	if exist {
		return t.open()
	}
	if err := t.script(makeTables); err != nil { // if clients live, they are those of a file that was removed
		return err
	}
	return t.setBoot()
}

// open refuses a file that is not the one that was opened, or whose tables are in another format. After a boot it
// ends what did not survive that.
func (t *tx) open() error {
	if err := t.d.database.check(); err != nil {
		return err
	}
	var found int
	var boot string
	if _, err := t.get(readStore, nil, &found, &boot, &t.began, &t.base, &t.floor); err != nil {
		return err
	}
	switch {
	case found != format:
		return fmt.Errorf("%w: %s is in format %d, and this program knows format %d; run the same version of "+
			"holdfast everywhere, or name another file", driver.ErrRefused, t.d.database.path, found, format)
	case boot != t.d.clock:
		return t.changeBoot()
	}
	return nil
}
