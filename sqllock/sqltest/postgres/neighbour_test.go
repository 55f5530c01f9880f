package postgres

import (
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// ofWaiters are the sessions that sleep for a claim. The clock of a sleep is that of its transaction.
const ofWaiters = " FROM pg_stat_activity a WHERE a.state = 'active' AND a.query LIKE '%holdfast1_wait(%'" +
	" AND a.wait_event IN ('advisory', 'PgSleep')"

// A waiter that sleeps holds no lock on a table, for which VACUUM FULL, ALTER TABLE and migrations would wait, and
// keeps a snapshot, for which CREATE INDEX CONCURRENTLY waits, for a second at most.
func TestWaitersHoldNothing(t *testing.T) {
	t.Parallel()
	server := servers.Postgres(t)
	holder, db := migrated(t, server)
	waiter := open(t, "postgres://postgres@"+server.Addr+"/postgres?sslmode=disable")
	ctx := t.Context()
	var all sync.WaitGroup
	t.Cleanup(all.Wait) // the context has ended before
	requested(t, holder, "a mutex", true)
	slot := func() driver.Claim {
		return driver.Claim{
			Name: "a semaphore", ID: driver.NewID(), Weight: 1, Limit: 2, TTL: time.Minute, Queue: true,
		}
	}
	for range 2 { // several may make room, so that the server is asked again and again
		if st, err := holder.Request(ctx, slot()); err != nil || !st.Granted {
			t.Fatalf("%+v, %v", st, err)
		}
	}
	next := slot()
	if st, err := waiter.Request(ctx, next); err != nil || st.Granted {
		t.Fatalf("%+v, %v", st, err)
	}
	for _, c := range []driver.Claim{requested(t, waiter, "a mutex", false), next} {
		all.Go(func() {
			for ctx.Err() == nil {
				waiter.Wait(ctx, c)
			}
		})
	}

	const most = 1500 * time.Millisecond // a wait, and a while until its answer is read
	pace.Run(t, "for long", func(t *pace.T) {
		t.Margin(most / 4)
		seen, holding := 0, 0
		for end := time.Now().Add(t.Scaled(4 * time.Second)); time.Now().Before(end); {
			var asleep, locking int
			var oldest float64
			err := db.QueryRow("SELECT count(*), count(*) FILTER (WHERE EXISTS (SELECT FROM pg_locks l JOIN pg_class c"+
				" ON c.oid = l.relation WHERE l.pid = a.pid AND c.relname LIKE 'holdfast%')),"+
				" coalesce(max(extract(epoch FROM clock_timestamp() - a.xact_start)), 0)"+ofWaiters).
				Scan(&asleep, &locking, &oldest)
			if err != nil {
				t.Fatal(err)
			}
			seen, holding = seen+asleep, holding+locking
			if age := time.Duration(oldest * float64(time.Second)); age > t.Scaled(most) {
				t.Fatalf("a snapshot of a waiter is %v old", age)
			}
		}
		if seen == 0 || 2*holding > seen { // one that began to look meanwhile may be seen with the lock of the look
			t.Errorf("of %d times that a waiter slept, it held locks on tables %d times", seen, holding)
		}
	})
}

// However many wait, what others do to the tables of the database goes on, and no holder is lost for it.
func TestBesideWaiters(t *testing.T) {
	t.Parallel()
	server := servers.Postgres(t)
	url := "postgres://postgres@" + server.Addr + "/postgres?sslmode=disable"
	holder, db := migrated(t, server)
	run(t, db, "CREATE TABLE strangers (n int)")
	const ttl, clients, each = 6 * time.Second, 10, 5
	held := waitingCrowd(t, holder, url, ttl, clients, each)
	untilAsleep(t, db, clients*each/2)

	for _, what := range []struct {
		name string
		do   func() error
	}{
		{"create index concurrently", doing(db, "CREATE INDEX CONCURRENTLY strangers_n ON strangers (n)",
			"DROP INDEX strangers_n")},
		{"create an index of locks concurrently", doing(db,
			"CREATE INDEX CONCURRENTLY strange ON holdfast_claims (ttl)", "DROP INDEX strange")},
		{"vacuum full of claims", doing(db, "VACUUM FULL holdfast_claims")},
		{"vacuum full of locks", doing(db, "VACUUM FULL holdfast_locks")},
		{"migrate", func() error { return sqllock.MigrateURL(t.Context(), url) }},
	} {
		pace.Run(t, what.name, func(t *pace.T) {
			t.Margin(ttl / 8)
			began := time.Now()
			if err := what.do(); err != nil {
				t.Fatal(err)
			}
			// A sleep lasts for 0.8 s, and an index of a table in use waits three times.
			if took := time.Since(began); took > t.Scaled(4*time.Second) {
				t.Errorf("it took %v", took)
			}
		})
	}
	for _, c := range held {
		if st, err := holder.Request(t.Context(), c); err != nil || !st.Granted {
			t.Fatalf("a lock was lost: %+v, %v", st, err)
		}
	}
}

// waitingCrowd lets clients wait, each for so many locks, which holder holds and renews.
func waitingCrowd(
	t *testing.T, holder *drivertest.Facade, url string, ttl time.Duration, clients, each int,
) (held []driver.Claim) {
	t.Helper()
	ctx := t.Context()
	var all sync.WaitGroup
	t.Cleanup(all.Wait) // the context has ended before
	for i := range each {
		c := driver.Claim{
			Name: fmt.Sprint("jobs ", i), ID: driver.NewID(), Weight: 1, Limit: 1, TTL: ttl, Queue: true,
		}
		st, err := holder.Request(ctx, c)
		if err != nil || !st.Granted {
			t.Fatalf("%+v, %v", st, err)
		}
		c.Token = st.Token
		held = append(held, c)
	}
	all.Go(func() {
		for driver.Sleep(ctx, ttl/3) == nil {
			holder.Renew(ctx, held)
		}
	})
	for range clients {
		d := open(t, url)
		for i := range each {
			c := requested(t, d, fmt.Sprint("jobs ", i), false)
			all.Go(func() {
				for ctx.Err() == nil {
					d.Wait(ctx, c)
				}
			})
		}
	}
	return held
}

// doing runs statements.
func doing(db *sql.DB, statements ...string) func() error {
	return func() error {
		for _, statement := range statements {
			if _, err := db.Exec(statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	}
}

// run runs a statement.
func run(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// untilAsleep waits until so many waiters sleep at the same time.
func untilAsleep(t testing.TB, db *sql.DB, want int) {
	t.Helper()
	for n := 0; n < want; driver.Sleep(t.Context(), 10*time.Millisecond) {
		if err := db.QueryRow("SELECT count(*)" + ofWaiters).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
}
