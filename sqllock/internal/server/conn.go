package server

import (
	"context"
	"database/sql"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/dbms"
)

// A Conn runs statements, each of which commits by itself. One that the server has undone since others were in the way
// is repeated.
type Conn struct {
	*sql.Conn
	Explain func(error) error // says what an error of the server means
}

// Do runs a statement, and reports whether it changed anything.
func (c Conn) Do(ctx context.Context, statement string) (changed bool, err error) {
	err = c.untilFree(ctx, func() error {
		result, err := c.ExecContext(ctx, statement)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		changed = n > 0
		return err
	})
	return changed, err
}

// Row asks for one row.
func (c Conn) Row(ctx context.Context, statement string, dest ...any) error {
	return c.untilFree(ctx, func() error { return c.QueryRowContext(ctx, statement).Scan(dest...) })
}

// Each asks for rows.
func (c Conn) Each(ctx context.Context, statement string, see func(*sql.Rows) error) error {
	rows, err := c.QueryContext(ctx, statement)
	if err != nil {
		return c.Explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := see(rows); err != nil {
			return err
		}
	}
	return c.Explain(rows.Err())
}

// FirstPause is the most that those wait before they try again who have collided with others.
const FirstPause = time.Millisecond

// Pace makes the pauses between the attempts of those who collide, at random, so that they do not collide again.
func Pace() driver.Backoff {
	return driver.Backoff{First: FirstPause, Most: 50 * FirstPause, Scatter: true}
}

func (c Conn) untilFree(ctx context.Context, run func() error) error {
	pace := Pace()
	for {
		err := run()
		if err == nil || !InTheWay(err) || pace.Pause(ctx) != nil {
			return c.Explain(err)
		}
	}
}

// InTheWay reports whether an error means that nothing was done because others were in the way.
func InTheWay(err error) bool {
	return dbms.Undone(err) || dbms.Taken(err) || dbms.Code(err) == "1020" // ER_CHECKREAD
}
