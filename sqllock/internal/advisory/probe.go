package advisory

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/sqllock/internal/health"
	"github.com/holdfast-go/holdfast/sqllock/internal/server"
)

// ErrPooled says that a proxy hands out the sessions of the server anew for each transaction.
var ErrPooled = fmt.Errorf("%w: a proxy gives each transaction another session of the server, so a lock would"+
	" stay behind in a session that others use; connect to the server directly, let the proxy pool whole sessions,"+
	" or leave out mode=session", driver.ErrRefused)

// errForbidden says that the server lets nobody use its advisory locks.
var errForbidden = fmt.Errorf("%w: pxc_strict_mode forbids GET_LOCK, because the nodes of the cluster do not"+
	" share its locks; leave out mode=session", driver.ErrRefused)

// probe refuses a server that forbids its locks, a proxy that pools transactions, and a database without the tables.
func (d *Driver) probe(ctx context.Context) error {
	if d.dialect.Name == server.MySQL.Name {
		var mode string
		if d.db.QueryRowContext(ctx, dbms.StrictMode).Scan(&mode) == nil && dbms.ForbidsLocks(mode) {
			return errForbidden
		}
	}
	switch pooled, err := health.Pooled(ctx, d.db, d.dialect.SessionID); {
	case err != nil:
		return explain(err)
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
	err = s.ask(ctx, "session", values{}, &s.id, &found, &hasTables)
	if err == nil {
		err = health.CheckFormat(found)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// probeTTL is that of sessions which only look.
const probeTTL = time.Minute
