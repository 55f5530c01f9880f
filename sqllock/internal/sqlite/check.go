package sqlite

import (
	"context"
	"path/filepath"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/knownfaults"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
)

// synchronousFull is the value of PRAGMA synchronous with which a commit waits for the disk.
const synchronousFull = 2

// Check implements [driver.Checker]. It looks at the file system and at how SQLite writes.
func (d *Driver) Check(ctx context.Context, brief bool) (findings []driver.Finding, err error) {
	if brief {
		return nil, nil
	}
	where, _, err := fileSystem(filepath.Dir(d.database.path))
	if err != nil {
		return nil, err
	}
	err = d.transact(ctx, func(t *tx) {
		t.lasts = true
		findings, err = health.Look(t.ctx, d.conn, facts)
		t.fail(err)
	})
	return append([]driver.Finding{{Fact: d.database.path + " is on " + where}}, findings...), err
}

var facts = []health.Fact{
	{Name: knownfaults.SQLite, Query: "SELECT sqlite_version()", Good: func(string) bool { return true }},
	{
		Name: "journal_mode", Query: "PRAGMA journal_mode", Good: health.Is(logged), Level: driver.Warning,
		Advice: "use a file system on which SQLite can share memory: without a log, each change waits for the disk",
	},
	{
		Name: "synchronous, for what outlives a boot,", Query: "PRAGMA synchronous", // as we have set it
		Good: health.AtLeast(synchronousFull), Level: driver.Unsafe,
		Advice: "open the file with another SQL driver: this one does not let us set synchronous to FULL," +
			" so a power failure may undo what was left alone, and tokens are given out twice",
	},
}
