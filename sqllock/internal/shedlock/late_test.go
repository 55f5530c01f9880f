package shedlock

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Who waits learns that the lock is free also from a server that is slow to answer all the time.
func TestSlowLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sql.OpenDB(lateServer{})
		defer db.Close()
		d := unchecked(db, quoting(Postgres), Table)
		defer d.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := d.wait(ctx, driver.Claim{Name: "free", ID: "c", Weight: 1, Limit: 1, TTL: time.Minute})
		if err != nil {
			t.Errorf("Wait: %v", err)
		}
	})
}

// A lateServer answers each question with no, after a while.
type lateServer struct{}

func (lateServer) Connect(context.Context) (sqldriver.Conn, error) { return lateServer{}, nil }
func (lateServer) Driver() sqldriver.Driver                        { return nil }
func (lateServer) Prepare(string) (sqldriver.Stmt, error)          { return nil, errors.ErrUnsupported }
func (lateServer) Begin() (sqldriver.Tx, error)                    { return nil, errors.ErrUnsupported }
func (lateServer) Close() error                                    { return nil }

func (lateServer) QueryContext(ctx context.Context, _ string, _ []sqldriver.NamedValue) (sqldriver.Rows, error) {
	return &no{}, driver.Sleep(ctx, lookTime*3/2)
}

// A no is the answer.
type no struct{ read bool }

func (*no) Columns() []string { return []string{"is so"} }
func (*no) Close() error      { return nil }

func (n *no) Next(dest []sqldriver.Value) error {
	if n.read {
		return io.EOF
	}
	n.read, dest[0] = true, false
	return nil
}
