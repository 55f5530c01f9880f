package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/holdfast-go/holdfast/driver"
)

// synchronousFull is what PRAGMA synchronous says when each commit waits for the disk.
const synchronousFull = 2

// Check implements [driver.Checker]. It looks at the file system and at how SQLite writes.
func (d *Driver) Check(ctx context.Context) ([]driver.Finding, error) {
	where, _, err := fileSystem(filepath.Dir(d.place.path))
	if err != nil {
		return nil, err
	}
	var version, journal string
	var synchronous int
	err = d.read(ctx, func(t *tx) error {
		return errors.Join(
			d.session.conn.QueryRowContext(t.ctx, "SELECT sqlite_version()").Scan(&version),
			d.session.conn.QueryRowContext(t.ctx, "PRAGMA journal_mode").Scan(&journal),
			d.session.conn.QueryRowContext(t.ctx, "PRAGMA synchronous").Scan(&synchronous),
		)
	})
	if err != nil {
		return nil, err
	}
	return []driver.Finding{
		{Fact: "SQLite is " + version},
		{Fact: d.place.path + " is on " + where},
		checkJournal(journal),
		checkSynchronous(synchronous),
	}, nil
}

func checkJournal(mode string) driver.Finding {
	f := driver.Finding{Fact: "journal_mode is " + mode}
	if mode != "wal" {
		f.Level, f.Advice = driver.Warning, "use a file system where SQLite can share memory, so that readers and writers do not wait for each other"
	}
	return f
}

func checkSynchronous(level int) driver.Finding {
	f := driver.Finding{Fact: fmt.Sprintf("synchronous is %d", level)}
	if level < synchronousFull {
		f.Level, f.Advice = driver.Unsafe, "set synchronous=FULL: otherwise a power failure may take back tokens that were given"
	}
	return f
}
