package sessions

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A claim that gets no connection before its caller gives up is not asked for later, and its error says so.
func unsent(t *testing.T, s server, running *servers.Server) {
	const most = 2
	db, err := sql.Open(s.Driver, s.Source(running.Addr))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(most)
	dialect := sqllock.Postgres
	if s.Driver == "mysql" {
		dialect = sqllock.MySQL
	}
	d, err := drivertest.Wrap(sqllock.New(t.Context(), db, dialect, &sqllock.Options{Mode: sqllock.Session}))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var others [most]*sql.Conn
	for i := range others {
		if others[i], err = db.Conn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c := claim(t, 5*time.Second)
	for what, ask := range map[string]func(context.Context) error{
		"Request": func(ctx context.Context) error { _, err := d.Request(ctx, c); return err },
		"Release": func(ctx context.Context) error { return d.Release(ctx, claim(t, 5*time.Second)) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := ask(ctx); !errors.Is(err, driver.ErrUnsent) || !errors.Is(err, ctx.Err()) {
			t.Errorf("%s: %v, want ErrUnsent and the context's error", what, err)
		}
		cancel()
	}
	for _, conn := range others {
		conn.Close()
	}
	other := s.open(t, running.Addr)
	next := claim(t, 5*time.Second)
	if st := request(t, other, next); !st.Granted {
		t.Errorf("the lock is taken, though what asked for it has given up: %+v", st)
	}
}
