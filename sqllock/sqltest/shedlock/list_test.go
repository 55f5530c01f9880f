package shedlock

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A list comes in pages, of which each brings so many names and no more, and no names that begin otherwise. A lock that
// is held and waited for is listed once, wherever the column's collation puts it.
func TestListComesInPages(t *testing.T) {
	t.Parallel()
	const locks, most = 2_500, 1_500
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.begin(t).Addr
			p := peer{s.Pool(t, addr), dbTime[s.Name], "java-host", time.Now}
			var many []string
			for i := range locks {
				name := fmt.Sprintf("%s %04d", []string{"many", "Other"}[i%2], i)
				p.lock(t, s, name, time.Hour)
				if i%2 == 0 {
					many = append(many, name)
				}
			}
			d, read := s.counted(t, addr)
			waiting := s.open(t, addr) // whoever waits looks now and then
			for _, name := range []string{"many 0000", "many waited for"} {
				c := claimOf(name)
				c.Queue = true
				if name == "many waited for" {
					request(t, waiting, claimOf(name))
				}
				if st := request(t, waiting, c); st.Granted {
					t.Fatalf("%q is granted to two", name)
				}
			}
			many = append(many, "many waited for")

			for prefix, want := range map[string][]string{
				"many": many, "many 00": many[:50], "many 2498": {"many 2498"}, "Many": nil, "man\xc3": nil, "m%": nil,
			} {
				before := read.Load()
				if found := listed(t, d, prefix); !slices.Equal(found, want) {
					t.Errorf("with the prefix %q there are %d locks, want %d", prefix, len(found), len(want))
				}
				if rows := read.Load() - before; rows > int64(len(want)+2) {
					t.Errorf("with the prefix %q %d rows were read for %d locks", prefix, rows, len(want))
				}
			}
			if found := listed(t, d, ""); len(found) != locks+1 || len(slices.Compact(found)) != locks+1 {
				t.Errorf("there are %d locks, want %d", len(found), locks+1)
			}

			before := read.Load()
			for name, err := range driver.List(t.Context(), d, "") {
				if rows := read.Load() - before; err != nil || rows > most {
					t.Errorf("to yield %q, %v, a list has read %d rows, want at most %d", name, err, rows, most)
				}
				if name != "many 0000" && name != "many waited for" {
					break
				}
			}
		})
	}
}

// listed is a list, sorted.
func listed(t *testing.T, d *drivertest.Facade, prefix string) (names []string) {
	t.Helper()
	for name, err := range driver.List(t.Context(), d, prefix) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// counted opens a client, and says how many rows it has read.
func (s server) counted(t *testing.T, addr string) (*drivertest.Facade, *atomic.Int64) {
	t.Helper()
	rows := new(atomic.Int64)
	d := s.openThrough(t, addr, func(c sqldriver.Connector) sqldriver.Connector { return counted{c, rows} })
	return drivertest.NewFacade(d), rows
}

// openThrough opens a client whose connections are made by what wrap makes of the usual connector.
func (s server) openThrough(
	t testing.TB, addr string, wrap func(sqldriver.Connector) sqldriver.Connector,
) driver.Driver {
	t.Helper()
	connector, err := s.Pool(t, addr).Driver().(sqldriver.DriverContext).OpenConnector(s.Source(addr))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(wrap(connector))
	t.Cleanup(func() { db.Close() })
	dialect := map[string]*sqllock.Dialect{"mariadb": sqllock.MySQL, "postgres": sqllock.Postgres}[s.Name]
	d, err := sqllock.New(t.Context(), db, dialect, &sqllock.Options{Layout: sqllock.ShedLock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// counted are connections that count the rows that statements return.
type counted struct {
	sqldriver.Connector
	rows *atomic.Int64
}

func (c counted) Connect(ctx context.Context) (sqldriver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	return countedConn{conn, c.rows}, err
}

type countedConn struct {
	sqldriver.Conn
	rows *atomic.Int64
}

func (c countedConn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	return c.Conn.(sqldriver.ExecerContext).ExecContext(ctx, query, args)
}

func (c countedConn) QueryContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	rows, err := c.Conn.(sqldriver.QueryerContext).QueryContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return countedRows{rows, c.rows}, nil
}

type countedRows struct {
	sqldriver.Rows
	rows *atomic.Int64
}

func (r countedRows) Next(dest []sqldriver.Value) error {
	err := r.Rows.Next(dest)
	if err == nil {
		r.rows.Add(1)
	}
	return err
}

func (r countedRows) ColumnTypeDatabaseTypeName(i int) string {
	return r.Rows.(sqldriver.RowsColumnTypeDatabaseTypeName).ColumnTypeDatabaseTypeName(i)
}

func (r countedRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	return r.Rows.(sqldriver.RowsColumnTypePrecisionScale).ColumnTypePrecisionScale(i)
}
