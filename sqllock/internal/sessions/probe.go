package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// errPooled says that sessions are not what they seem.
var errPooled = fmt.Errorf("%w: a proxy gives each transaction another session of the server, so that a lock would stay with a session that "+
	"others use; connect to the server itself, let the proxy pool whole sessions, or use claims, without mode=session", driver.ErrRefused)

// probe refuses a proxy that pools transactions. Such a proxy gives the session of one connection to another while the
// first one is idle; so two connections are the same session, or the first one becomes another session when its own is
// in use.
func (d *Driver) probe(ctx context.Context) error {
	first, err := d.openToLook(ctx)
	if err != nil {
		return err
	}
	defer first.close()
	second, err := d.openToLook(ctx)
	if err != nil {
		return err
	}
	defer second.close()
	if first.id == second.id {
		return fmt.Errorf("%w: session %d answers on two connections", errPooled, first.id)
	}
	tx, err := second.conn.BeginTx(ctx, nil)
	if err != nil {
		return d.dialect.explain(err)
	}
	defer tx.Rollback() // it did nothing
	var within, meanwhile int64
	var hasTables bool
	statement := d.dialect.statements(sessionID, values{})[0]
	err = tx.QueryRowContext(ctx, statement).Scan(&within, &hasTables)
	err = errors.Join(err, first.row(ctx, statement, []any{&meanwhile, &hasTables}))
	if err != nil {
		return d.dialect.explain(err)
	}
	return errors.Join(second.isStill(within), first.isStill(meanwhile))
}

// openToLook opens a session and asks for its number. It fails where the tables are missing.
func (d *Driver) openToLook(ctx context.Context) (*session, error) {
	s, err := d.open(ctx, probeTTL)
	if err != nil {
		return nil, err
	}
	var hasTables bool
	if err := s.ask(ctx, sessionID, values{}, &s.id, &hasTables); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// probeTTL is that of sessions which only look.
const probeTTL = time.Minute
