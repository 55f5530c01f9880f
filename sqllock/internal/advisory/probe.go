package advisory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
)

// ErrPooled says that a proxy hands out the sessions of the server anew for each transaction.
var ErrPooled = fmt.Errorf("%w: a proxy gives each transaction another session of the server, so a lock would"+
	" stay behind in a session that others use; connect to the server directly, let the proxy pool whole sessions,"+
	" or leave out mode=session", driver.ErrRefused)

// errForbidden says that the server lets nobody use its advisory locks.
var errForbidden = fmt.Errorf("%w: pxc_strict_mode forbids GET_LOCK, because the nodes of the cluster do not"+
	" share its locks; leave out mode=session", driver.ErrRefused)

// isForbidden reports whether that is so.
func (d *Driver) isForbidden(ctx context.Context) bool {
	if d.nature.kind != dbms.MySQL {
		return false
	}
	var mode string
	err := d.db.QueryRowContext(ctx, dbms.StrictMode).Scan(&mode)
	return err == nil && dbms.ForbidsLocks(mode)
}

// probe refuses a server that forbids its locks, a proxy that pools transactions, and a database without the tables.
func (d *Driver) probe(ctx context.Context) error {
	if d.isForbidden(ctx) {
		return errForbidden
	}
	switch pooled, err := health.Pooled(ctx, d.db, d.dialect.number); {
	case err != nil:
		return d.dialect.explain(err)
	case pooled:
		return ErrPooled
	}
	s, err := d.openToLook(ctx)
	if err != nil {
		return err
	}
	return s.close()
}

// openToLook opens a session and asks for its number. It fails where the tables are missing.
func (d *Driver) openToLook(ctx context.Context) (*session, error) {
	s, err := d.open(ctx, probeTTL)
	if err != nil {
		return nil, err
	}
	var found int
	var hasTables bool
	err = s.ask(ctx, sessionID, values{}, &s.id, &found, &hasTables)
	if err == nil {
		err = checkFormat(found)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// format is the version of all tables in the database.
const format = 1

func checkFormat(found int) error {
	switch {
	case found == format:
		return nil
	case found < format:
		return health.NotMigrated(errors.New("a migration was not completed"))
	}
	return health.OtherFormat(found, format)
}

// probeTTL is that of sessions which only look.
const probeTTL = time.Minute
