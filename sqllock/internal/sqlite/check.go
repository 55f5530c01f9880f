package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/knownfaults"
)

// synchronousFull is the value of PRAGMA synchronous with which a commit waits for the disk.
const synchronousFull = 2

// Check implements [driver.Checker]. It looks at the file system and at how SQLite writes.
func (d *Driver) Check(ctx context.Context, brief bool) ([]driver.Finding, error) {
	if brief {
		return nil, nil
	}
	where, _, err := fileSystem(filepath.Dir(d.database.path))
	if err != nil {
		return nil, err
	}
	var version, journal string
	var synchronous int
	err = d.transact(ctx, func(t *tx) {
		t.lasts = true
		t.fail(errors.Join(
			d.conn.QueryRowContext(t.ctx, "SELECT sqlite_version()").Scan(&version),
			d.conn.QueryRowContext(t.ctx, "PRAGMA journal_mode").Scan(&journal),
			d.conn.QueryRowContext(t.ctx, "PRAGMA synchronous").Scan(&synchronous),
		))
	})
	if err != nil {
		return nil, err
	}
	return append([]driver.Finding{
		{Fact: "SQLite is " + version},
		{Fact: d.database.path + " is on " + where},
		checkJournal(journal),
		checkSynchronous(synchronous),
	}, knownfaults.Findings(knownfaults.SQLite, version)...), nil
}

func checkJournal(mode string) driver.Finding {
	f := driver.Finding{Fact: "journal_mode is " + mode}
	if mode != logged {
		f.Level = driver.Warning
		f.Advice = "use a file system on which SQLite can share memory: without a log, each change waits for the disk"
	}
	return f
}

// checkSynchronous judges the value that PRAGMA synchronous has after we have set it.
func checkSynchronous(level int) driver.Finding {
	f := driver.Finding{Fact: fmt.Sprintf("synchronous is %d for what outlives a boot", level)}
	if level < synchronousFull {
		f.Level = driver.Unsafe
		f.Advice = "open the file with another SQL driver: this one does not let us set synchronous to FULL," +
			" so a power failure may undo what was left alone, and tokens are given out twice"
	}
	return f
}
