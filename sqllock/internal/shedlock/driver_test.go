package shedlock

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A crowd that waits for locks, asks for them or looks at them leaves connections to those who hold one, however slow
// the database is.
func TestHoldersDoNotWaitBehindACrowd(t *testing.T) {
	crowds := map[string]func(context.Context, *Driver, driver.Claim) error{
		"waits": func(ctx context.Context, d *Driver, c driver.Claim) error {
			_, err := d.wait(ctx, c)
			return err
		},
		"asks": func(ctx context.Context, d *Driver, c driver.Claim) error {
			_, err := d.request(ctx, c)
			return err
		},
		"looks": func(ctx context.Context, d *Driver, c driver.Claim) error {
			_, err := d.queue(ctx, c.Name, 0)
			return err
		},
	}
	for name, join := range crowds {
		for _, most := range []int{0, 2, 8} { // connections of a pool that the caller has bounded, or not
			t.Run(fmt.Sprint(name, " with ", most), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { renewBeside(t, most, join) })
			})
		}
	}
}

// renewBeside renews and releases a claim while a crowd has its statements at a server that does not answer them.
func renewBeside(t *testing.T, most int, join func(context.Context, *Driver, driver.Claim) error) {
	ctx, leave := context.WithCancel(t.Context())
	db := sql.OpenDB(&slowServer{held: "'held'"})
	defer db.Close()
	db.SetMaxOpenConns(most)
	d := unchecked(db, quoting(Postgres), Table)
	defer d.Close()
	claim := func(name string) driver.Claim {
		return driver.Claim{Name: name, ID: name, Weight: 1, Limit: 1, TTL: time.Minute, Queue: true}
	}
	left := make(chan error)
	const crowd = 50
	for range crowd {
		go func() { left <- join(ctx, d, claim("wanted")) }()
	}
	time.Sleep(holdLook) // of the bubble: all have begun
	synctest.Wait()
	if open := db.Stats().OpenConnections; open > mostConns/2 {
		t.Errorf("a crowd has %d connections", open)
	}
	held := claim("held")
	held.Token = heldToken
	if st, err := d.request(t.Context(), held); err != nil || !st.Granted {
		t.Errorf("renew: %+v, %v", st, err)
	}
	if err := d.release(t.Context(), held); err != nil {
		t.Errorf("release: %v", err)
	}
	leave()
	for range crowd {
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("who left the crowd: %v", err)
		}
	}
}

// Looks that get no answer, as over connections that are dead without a word, keep nobody from asking for long.
func TestNobodyWaitsBehindDeadLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		db := sql.OpenDB(&slowServer{held: "'held'"})
		defer db.Close()
		d := unchecked(db, quoting(Postgres), Table)
		defer d.Close()
		left := make(chan error)
		for range mostConns {
			go func() {
				_, err := d.wait(ctx, driver.Claim{Name: "wanted", ID: "wanted", Weight: 1, Limit: 1, TTL: time.Minute})
				left <- err
			}()
		}
		time.Sleep(holdLook) // of the bubble: all have begun
		limited, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := driver.Claim{Name: "held", ID: "held", Weight: 1, Limit: 1, TTL: time.Minute, Queue: true}
		if st, err := d.request(limited, c); err != nil || !st.Granted {
			t.Errorf("Request: %+v, %v", st, err)
		}
		leave()
		for range mostConns {
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("who left the crowd: %v", err)
			}
		}
	})
}

// quoting is a dialect whose statements have names that can be read.
func quoting(d *Dialect) *Dialect {
	c := *d
	c.Bytes = func(s string) string { return "'" + s + "'" }
	c.text = c.Bytes
	return &c
}

// heldToken is the token of the claim whose lock a slowServer serves.
const heldToken = 7

// A slowServer serves the claim whose ID its statements have, and answers no others.
type slowServer struct{ held string }

func (s *slowServer) Connect(context.Context) (sqldriver.Conn, error) { return slowConn{s}, nil }
func (s *slowServer) Driver() sqldriver.Driver                        { return nil }

type slowConn struct{ *slowServer }

func (c slowConn) answer(ctx context.Context, query string) error {
	if strings.Contains(query, c.held) {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (c slowConn) ExecContext(ctx context.Context, query string, _ []sqldriver.NamedValue) (sqldriver.Result, error) {
	return sqldriver.RowsAffected(1), c.answer(ctx, query)
}

func (c slowConn) QueryContext(ctx context.Context, query string, _ []sqldriver.NamedValue) (sqldriver.Rows, error) {
	return &heldRows{}, c.answer(ctx, query)
}

func (slowConn) Prepare(string) (sqldriver.Stmt, error) { return nil, errors.ErrUnsupported }
func (slowConn) Begin() (sqldriver.Tx, error)           { return nil, errors.ErrUnsupported }
func (slowConn) Close() error                           { return nil }

// heldRows are what the tables have about a claim that has the lock.
type heldRows struct{ read bool }

func (*heldRows) Columns() []string {
	return []string{"state", "token", "name", "holds", "left", "contended"}
}
func (*heldRows) Close() error { return nil }

func (r *heldRows) Next(dest []sqldriver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	copy(dest, []sqldriver.Value{granted, int64(heldToken), "held", true, time.Minute.Microseconds(), false})
	return nil
}

var _ interface {
	sqldriver.ExecerContext
	sqldriver.QueryerContext
} = slowConn{}
