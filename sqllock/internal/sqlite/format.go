package sqlite

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

// format is the number of the format of the tables. A file of another format is refused.
const format = 2

// setUp makes the folder and the tables if there are none, brings them to this boot, and has the client join: not
// before, or clients that come together after a boot would take each other for those of another boot, and refuse to
// work.
func (d *Driver) setUp(ctx context.Context) error {
	return d.change(ctx, func(t *tx) {
		if d.database.folder == nil {
			f, err := makeFolder(d.database.place, d.database.share)
			if err != nil {
				t.fail(err)
				return
			}
			d.use(f)
		}
		if t.setUpTables(); t.err == nil {
			t.fail(d.client.join(d.database.folder))
		}
		if t.err == nil {
			t.sweep()
		}
	})
}

func (t *tx) setUpTables() {
	var exist bool
	if t.get("has_store", nil, &exist); exist {
		t.open()
		return
	}
	t.script("tables") // if clients live, they are those of a file that was removed
	t.setBoot()
}

// open refuses a file that is not the one that was opened, or whose tables are in another format. After a boot it
// ends what did not survive that.
func (t *tx) open() {
	t.fail(t.d.database.check())
	var boot string
	var found int
	t.get("store", nil, &found, &boot, &t.began, &t.base, &t.floor)
	if t.err != nil {
		t.refuseMissingColumn()
		return
	}
	if found != format {
		t.fail(t.otherFormat(found))
	} else if boot != t.d.clock {
		t.changeBoot()
	}
}

// refuseMissingColumn replaces the error of a statement that did not find all its columns because the tables are in
// another format.
func (t *tx) refuseMissingColumn() {
	err, found := t.err, format
	t.err = nil
	t.get("format", nil, &found)
	if t.err = err; found != format {
		t.err = t.otherFormat(found)
	}
}

func (t *tx) otherFormat(found int) error {
	return fmt.Errorf("%w: %s is in format %d, and this program knows format %d; run the same version of holdfast "+
		"everywhere, or name another file", driver.ErrRefused, t.d.database.path, found, format)
}
