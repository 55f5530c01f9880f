package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/dbms"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
	"github.com/holdfast-go/holdfast/sqllock/internal/replies"
)

// sessions is how many sessions of the server the pool has.
const sessions = 5

// pooled starts a server with tables, behind a proxy that gives each transaction one of a few sessions.
func pooled(t *testing.T) (direct, pool string) {
	t.Helper()
	server := servers.Postgres(t)
	url := func(addr string) string { return "postgres://postgres@" + addr + "/postgres?sslmode=disable" }
	direct = url(server.Addr)
	pool = url(servers.PgBouncer(t, server, "transaction", fmt.Sprint("default_pool_size = ", sessions)).Addr)
	if err := sqllock.MigrateURL(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	return direct, pool
}

func open(t testing.TB, url string) *drivertest.Facade {
	t.Helper()
	d, err := drivertest.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func database(t testing.TB, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestPooled runs the contract through a proxy that pools transactions.
func TestPooled(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	_, pool := pooled(t)
	drivertest.Run(t, drivertest.Harness{
		Open: func(t testing.TB) driver.Driver { return open(t, pool) },
		TTL:  time.Second,
	})
}

// ours are the settings that requests depend on.
var ours = []string{
	"default_transaction_isolation", "statement_timeout", "lock_timeout", "enable_seqscan", "plan_cache_mode", "jit",
	"idle_session_timeout", "client_connection_check_interval",
}

// settings reads those of all sessions that the pool has: each is in a transaction meanwhile, so
// that none is read twice.
func settings(t *testing.T, db *sql.DB) (all []string) {
	t.Helper()
	for range sessions {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		for _, name := range ours {
			var value string
			if err := tx.QueryRow("SELECT current_setting($1)", name).Scan(&value); err != nil {
				t.Fatal(err)
			}
			all = append(all, name+" = "+value)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Other programs that share the sessions find nothing of ours in them: no settings, no locks, and
// none that is kept busy.
func TestPooledSessionsAreNotOurs(t *testing.T) {
	t.Parallel()
	direct, pool := pooled(t)
	others := database(t, pool+"&default_query_exec_mode=exec")
	before := settings(t, others)
	holder, waiter := open(t, pool), open(t, pool)
	var held []driver.Claim
	var waiting sync.WaitGroup
	defer waiting.Wait()
	for i := range 2 * sessions {
		name := fmt.Sprint("jobs ", i)
		held = append(held, requested(t, holder, name, true))
		c := requested(t, waiter, name, false)
		waiting.Go(func() { granted(t, waiter, c) })
	}
	if _, err := holder.Renew(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	if after := settings(t, others); !slices.Equal(before, after) {
		t.Errorf("the sessions have %q, and had %q", after, before)
	}
	var locks int
	const advisory = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
	if err := database(t, direct).QueryRow(advisory).Scan(&locks); err != nil || locks > 0 {
		t.Errorf("the sessions have %d advisory locks, %v", locks, err)
	}
	for _, c := range held {
		if err := holder.Release(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	waiting.Wait()
}

// A SQL driver that prepares statements by itself, which a proxy gives to any session, is refused with what to do. One
// that does not works, also with a single connection, of which New cannot find out anything.
func TestPooledOwnDatabase(t *testing.T) {
	t.Parallel()
	_, pool := pooled(t)
	preparing := database(t, pool)
	var refused error
	for range 2 { // the first to prepare a statement gets away with it
		d, err := drivertest.Wrap(sqllock.New(t.Context(), preparing, sqllock.Postgres, nil))
		if err == nil {
			defer d.Close()
			c := driver.Claim{Name: "jobs", ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Minute}
			_, err = d.Request(t.Context(), c)
		}
		refused = err
	}
	keeps := servers.KeepsPrepared()
	if !keeps && !isRefused(refused, "default_query_exec_mode=exec") || keeps && refused != nil {
		t.Errorf("a SQL driver that prepares statements: %v", refused)
	}

	single := database(t, pool+"&default_query_exec_mode=exec")
	single.SetMaxOpenConns(1)
	opts := &sqllock.Options{Pooler: sqllock.PoolsTransactions}
	d, err := drivertest.Wrap(sqllock.New(t.Context(), single, sqllock.Postgres, opts))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	held, next := requested(t, d, "single", true), requested(t, d, "single", false)
	var waiting sync.WaitGroup
	waiting.Go(func() { granted(t, d, next) })
	if err := d.Release(t.Context(), held); err != nil {
		t.Error(err)
	}
	waiting.Wait()
}

func isRefused(err error, why string) bool {
	return errors.Is(err, driver.ErrRefused) && strings.Contains(err.Error(), why)
}

// What needs sessions of its own is refused, and so are names of poolers that there are not.
func TestPoolerInURL(t *testing.T) {
	t.Parallel()
	direct, pool := pooled(t)
	for url, why := range map[string]string{
		pool + "&mode=session":                      "a proxy gives each transaction another session",
		direct + "&mode=session&pooler=transaction": "a proxy gives each transaction another session",
		direct + "&pooler=statement":                `"transaction"`,
	} {
		d, err := drivertest.Open(t.Context(), url)
		if err == nil {
			d.Close()
			t.Errorf("%s was opened, want an error with %q", url, why)
		} else if !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", url, err, why)
		}
	}
	requested(t, open(t, direct+"&pooler=transaction"), "jobs", true)
	requested(t, open(t, direct+"&pooler=session"), "jobs", false)
}

// What the database asks of all its sessions, which ours cannot change there, costs repetitions and no mistakes.
func TestPooledWithDefaultsOfOthers(t *testing.T) {
	t.Parallel()
	direct, pool := pooled(t)
	for _, setting := range []string{
		"default_transaction_isolation = serializable", "enable_indexscan = off", "lock_timeout = '20ms'",
	} {
		if _, err := database(t, direct).Exec("ALTER DATABASE postgres SET " + setting); err != nil {
			t.Fatal(err)
		}
	}
	pool += "&pooler=transaction"
	var holders, most atomic.Int32
	var crowd sync.WaitGroup
	for range 2 * sessions {
		d := open(t, pool)
		crowd.Go(func() {
			for range 5 {
				c := driver.Claim{Name: "jobs", ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Minute, Queue: true}
				st, err := d.Request(t.Context(), c)
				if err != nil {
					t.Error(err)
					return
				}
				if c.Token = st.Token; !st.Granted {
					granted(t, d, c)
				}
				most.Store(max(most.Load(), holders.Add(1)))
				holders.Add(-1)
				if err := d.Release(t.Context(), c); err != nil {
					t.Error(err)
				}
			}
		})
	}
	crowd.Wait()
	if most.Load() != 1 {
		t.Errorf("%d held the lock at a time", most.Load())
	}
}

// A proxy that was not noticed, because it was busy or somebody said that there is none, shows by what becomes of
// prepared statements. Nobody learns of that.
func TestPooledUnnoticed(t *testing.T) {
	t.Parallel()
	_, pool := pooled(t)
	var crowd sync.WaitGroup
	for i := range 2 * sessions {
		d := open(t, pool+"&pooler=session")
		crowd.Go(func() {
			for range 20 {
				name := fmt.Sprint("jobs ", i)
				c := driver.Claim{Name: name, ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Minute}
				st, err := d.Request(t.Context(), c)
				if err != nil || !st.Granted {
					t.Errorf("Request: %+v, %v", st, err)
					return
				}
				c.Token = st.Token
				if err := d.Release(t.Context(), c); err != nil {
					t.Errorf("Release: %v", err)
				}
			}
		})
	}
	crowd.Wait()
}

// requested requests a claim, and returns it with its token.
func requested(t *testing.T, d *drivertest.Facade, name string, granted bool) driver.Claim {
	t.Helper()
	c := driver.Claim{Name: name, ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Minute, Queue: true}
	st, err := d.Request(t.Context(), c)
	if err != nil || st.Granted != granted {
		t.Fatalf("Request(%s): %+v, %v; want granted: %v", name, st, err, granted)
	}
	c.Token = st.Token
	return c
}

// granted waits until a claim is granted.
func granted(t *testing.T, d *drivertest.Facade, c driver.Claim) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for {
		st, err := d.Wait(ctx, c)
		if err == nil && st == (driver.Status{}) {
			st, err = d.Request(ctx, c)
		}
		if err != nil {
			t.Errorf("waiting for %s: %v", c.Name, err)
		}
		if err != nil || st.Granted {
			return
		}
	}
}

// A proxy that ends a query, or loses the server under it, says so with the code of a breach of the protocol. The query
// may have been committed.
func TestPoolerEndsAQuery(t *testing.T) {
	t.Parallel()
	server := servers.Postgres(t)
	pool := servers.PgBouncer(t, server, "transaction", "query_timeout = 1")
	db := database(t, "postgres://postgres@"+pool.Addr+"/postgres?sslmode=disable")
	_, err := db.ExecContext(t.Context(), "SELECT pg_sleep(60)")
	answer, ok := errors.AsType[*driver.ServerError](replies.Explain(err))
	if code := dbms.Code(err); code != "08P01" || !ok || answer.Effect != driver.MayHaveHappened {
		t.Errorf("%v with the code %q: %+v", err, code, answer)
	}
}
