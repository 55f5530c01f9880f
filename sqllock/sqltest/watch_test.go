package sqltest

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
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A client that watches many queues, as for locks that it keeps for its next callers, looks at all of them in one
// transaction every 25 to 50 ms, and makes none when nobody is to be told.
func TestWatchedTogether(t *testing.T) {
	path := newFile(t)
	var begun atomic.Int64
	d := openRaw(t, sql.OpenDB(beginCounter{path, openSQL(t, path).Driver(), &begun}))
	stop := d.Subscribe(func(driver.Event) {})
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprint("kept", i))
	}
	watch(t, d, names...)
	before, began := begun.Load(), time.Now()
	driver.Sleep(t.Context(), time.Second)
	looks := begun.Load() - before
	if most := int64(time.Since(began)/(25*time.Millisecond)) + 2; looks == 0 || looks > most {
		t.Errorf("%d transactions in %v, want %d at most", looks, time.Since(began), most)
	}
	stop()
	before = begun.Load()
	driver.Sleep(t.Context(), 300*time.Millisecond)
	if looks := begun.Load() - before; looks > 1 { // one was under way
		t.Errorf("%d transactions while nobody watches", looks)
	}
}

// A client that watches the queue behind its own claim is told at once when a claim waits there.
func TestHolderIsToldOfTheNext(t *testing.T) {
	pace.Run(t, "requests", holderIsToldOfTheNext)
}

func holderIsToldOfTheNext(t *pace.T) {
	t.Margin(25 * time.Millisecond)
	path := newFile(t)
	holder, other := openRaw(t, openSQL(t, path)), open(t, path)
	told := make(chan driver.Event, 100)
	holder.Subscribe(func(e driver.Event) { told <- e })
	var took []time.Duration
	for i := range 20 {
		name := fmt.Sprint("m", i)
		var st driver.Result
		holder.Do(t.Context(), []driver.Op{{Kind: driver.OpRequest, Claim: mutex(name)}},
			func(_ int, r driver.Result) { st = r })
		if !st.Status.Granted {
			t.Fatalf("a free lock: %+v", st)
		}
		watch(t, holder, name)
		began := time.Now()
		request(t, other, mutex(name), false)
		if e := <-told; e.Name != name || e.ID != "" {
			t.Fatalf("told %+v", e)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	if quick := took[len(took)/4]; quick > t.Scaled(25*time.Millisecond) {
		t.Errorf("a quarter of the claims were told after up to %v, the rest later", quick)
	}
}

// watch returns when changes of queues will be told.
func watch(t testing.TB, d driver.Driver, names ...string) {
	t.Helper()
	var batch []driver.Op
	for _, name := range names {
		batch = append(batch, driver.Op{Kind: driver.OpWatch, Claim: driver.Claim{Name: name}})
	}
	d.Do(t.Context(), batch, func(i int, r driver.Result) {
		if r.Err != nil {
			t.Errorf("watching %s: %v", names[i], r.Err)
		}
	})
}

// openRaw opens a client that is closed with the test.
func openRaw(t testing.TB, db *sql.DB) driver.Driver {
	t.Helper()
	d, err := sqllock.New(t.Context(), db, sqllock.SQLite, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Close()
		db.Close()
	})
	return d
}

// A beginCounter makes connections that count the transactions.
type beginCounter struct {
	path  string
	of    sqldriver.Driver
	begun *atomic.Int64
}

func (c beginCounter) Driver() sqldriver.Driver { return c.of }

func (c beginCounter) Connect(context.Context) (sqldriver.Conn, error) {
	conn, err := c.of.Open(c.path + "?_pragma=busy_timeout(20000)")
	if err != nil {
		return nil, err
	}
	return beginCounterConn{conn.(fullConn), c.begun}, nil
}

type beginCounterConn struct {
	fullConn
	begun *atomic.Int64
}

func (c beginCounterConn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	if query == "BEGIN IMMEDIATE" {
		c.begun.Add(1)
	}
	return c.fullConn.ExecContext(ctx, query, args)
}
