package sessions

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/sqllock"
)

// tests are what each server must pass besides the contract.
var tests = []struct {
	name string
	run  func(t *testing.T, s server, running *servers.Server)
}{
	{"killed by the server", killed},
	{"a write after the session was killed", lateWrite},
	{"cut off without a word", cutOff},
	{"a renewal is answered with an error", answeredError},
	{"a release breaks off in the middle", halfReleased},
	{"broken while it waits", brokenWhileItWaits},
	{"a limit for statements", statementLimit},
	{"only mutexes", onlyMutexes},
	{"connections", connections},
	{"leftovers", leftovers},
	{"short lives", shortLives},
	{"closed meanwhile", closedMeanwhile},
	{"unsent", unsent},
	{"the server restarts", restarted}, // the last, because others have connections
}

func TestFaults(t *testing.T) {
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			running := s.migrated(t)
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) { test.run(t, s, running) })
			}
		})
	}
}

// claim returns a claim on a lock of the test's own.
func claim(t *testing.T, ttl time.Duration) driver.Claim {
	return driver.Claim{Name: t.Name(), ID: driver.NewID(), Weight: 1, Limit: 1, TTL: ttl, Queue: true}
}

func request(t *testing.T, d *drivertest.Facade, c driver.Claim) driver.Status {
	t.Helper()
	st, err := d.Request(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// acquire waits for a claim's grant.
func acquire(t *testing.T, d *drivertest.Facade, c driver.Claim) driver.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	st, err := d.Request(ctx, c)
	for err == nil && !st.Granted {
		if st, err = d.Wait(ctx, c); err == nil && !st.Granted {
			st, err = d.Request(ctx, c)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// mustBeGone fails unless the holder learns that its claim has ended.
func mustBeGone(t *testing.T, d *drivertest.Facade, c driver.Claim, st driver.Status) {
	t.Helper()
	c.Token = st.Token
	if _, err := d.Request(t.Context(), c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("the holder learns %v, want ErrGone", err)
	}
	if err := d.Release(t.Context(), c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("its release is answered %v, want ErrGone", err)
	}
}

// number asks for one number.
func number(t *testing.T, db *sql.DB, query string) (n int64) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// An administrator ends the holder's session: the lock is free at once, which no lease can know; the token tells.
func killed(t *testing.T, s server, running *servers.Server) {
	d, other := s.open(t, running.Addr), s.open(t, running.Addr)
	holder, next := claim(t, time.Minute), claim(t, time.Minute)
	held := acquire(t, d, holder)
	request(t, other, next)
	s.kill(t, s.Pool(t, running.Addr), holder.Name)
	if got := acquire(t, other, next); got.Token <= held.Token {
		t.Errorf("the next holder has token %d after %d", got.Token, held.Token)
	}
	mustBeGone(t, d, holder, held)
}

// kill ends the session that holds a lock.
func (s server) kill(t *testing.T, db *sql.DB, lock string) {
	t.Helper()
	id := number(t, db, fmt.Sprintf(map[string]string{
		"mysql": "SELECT session FROM holdfast_sessions WHERE name = x'%x'",
		"pgx":   `SELECT session FROM holdfast_sessions WHERE name = '\x%x'`,
	}[s.Driver], lock))
	end := map[string]string{"mysql": "KILL %d", "pgx": "SELECT pg_terminate_backend(%d)"}[s.Driver]
	if _, err := db.Exec(fmt.Sprintf(end, id)); err != nil {
		t.Fatal(err)
	}
}

// The holder whose session was killed learns it from its lease, and what it writes nevertheless is refused.
func lateWrite(t *testing.T, s server, running *servers.Server) {
	db := s.Pool(t, running.Addr)
	if err := fence.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	late := s.lock(t, running.Addr)
	s.kill(t, db, t.Name())
	next := s.lock(t, running.Addr)
	if err := write(t, db, next); err != nil {
		t.Fatal(err)
	}
	if err := write(t, db, late); !errors.Is(err, fence.ErrStale) {
		t.Errorf("the late write: %v, want ErrStale", err)
	}
	select {
	case <-late.Done():
	case <-time.After(patience):
		t.Fatal("the lease was not reported as lost")
	}
	if err := late.Err(); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("its lease: %v, want ErrLost", err)
	}
	if err := late.Release(t.Context()); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("its release: %v, want ErrLost", err)
	}
	if err := next.Check(t.Context()); err != nil {
		t.Errorf("the next holder: %v", err)
	}
}

// lock waits for the test's lock, with a client of its own.
func (s server) lock(t *testing.T, addr string) *holdfast.Lease {
	t.Helper()
	client, err := holdfast.Open(t.Context(), s.url(addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	lease, err := client.Mutex(t.Name(), holdfast.WithTTL(5*time.Second)).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// write is a transaction of a resource that admits no holder older than the last.
func write(t *testing.T, db *sql.DB, holder *holdfast.Lease) error {
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // for nothing after Commit
	if err := fence.SQL(t.Context(), tx, t.Name(), holder.Token()); err != nil {
		return err
	}
	return tx.Commit()
}

// Neither side hears of the other any more, and no connection ends: the server frees the lock after the
// TTL, and not before.
func cutOff(t *testing.T, s server, running *servers.Server) {
	network := proxy.New(t, running.Addr)
	d, other := s.open(t, network.Addr), s.open(t, running.Addr)
	holder, next := claim(t, 3*time.Second), claim(t, time.Minute)
	sent := time.Now()
	held := acquire(t, d, holder)
	network.BlackHole()
	got := acquire(t, other, next)
	if passed := time.Since(sent); passed < held.TTL {
		t.Errorf("the lock was free %v after a request with TTL %v", passed, held.TTL)
	}
	if got.Token <= held.Token {
		t.Errorf("the next holder has token %d after %d", got.Token, held.Token)
	}
	network.Heal()
	mustBeGone(t, d, holder, held)
}

// A renewal fails while the session is alive: the lock stays taken until the holder, who knows by that, releases it.
func answeredError(t *testing.T, s server, running *servers.Server) {
	d, db := s.open(t, running.Addr), s.Pool(t, running.Addr)
	holder, next := claim(t, time.Minute), claim(t, time.Minute)
	holder.Token = acquire(t, d, holder).Token
	exec(t, db, "ALTER TABLE holdfast_session_claims RENAME TO elsewhere")
	_, err := d.Request(t.Context(), holder)
	exec(t, db, "ALTER TABLE elsewhere RENAME TO holdfast_session_claims")
	if !errors.Is(err, driver.ErrGone) {
		t.Fatalf("the renewal: %v, want ErrGone", err)
	}
	other := s.open(t, running.Addr)
	if request(t, other, next).Granted {
		t.Error("the lock was free before its holder could know")
	}
	if err := d.Release(t.Context(), holder); err != nil && !errors.Is(err, driver.ErrGone) {
		t.Errorf("its release: %v", err)
	}
	acquire(t, other, next)
	if _, err := d.Request(t.Context(), holder); !errors.Is(err, driver.ErrGone) {
		t.Errorf("a late renewal: %v, want ErrGone", err)
	}
}

// An execer is a pool or one of its connections.
type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

func exec(t *testing.T, on execer, statement string) {
	t.Helper()
	if _, err := on.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// The administrator's limit for statements does not end a renewal that a stall makes last for longer.
func statementLimit(t *testing.T, s server, running *servers.Server) {
	const limit = 500 * time.Millisecond
	words := map[string]struct{ limit, unlimited, stall, end string }{
		"mysql": {
			"SET GLOBAL /*M! max_statement_time = 0.5 */ /*!50708 max_execution_time = 500 */",
			"SET GLOBAL /*M! max_statement_time = 0 */ /*!50708 max_execution_time = 0 */",
			"LOCK TABLES holdfast_session_claims WRITE", "UNLOCK TABLES",
		},
		"pgx": {
			"ALTER DATABASE postgres SET statement_timeout = '500ms'",
			"ALTER DATABASE postgres RESET statement_timeout",
			"BEGIN; LOCK TABLE holdfast_session_claims IN ACCESS EXCLUSIVE MODE", "ROLLBACK",
		},
	}[s.Driver]
	db := s.Pool(t, running.Addr)
	exec(t, db, words.limit)
	d, c := s.open(t, running.Addr), claim(t, time.Minute)
	c.Token = acquire(t, d, c).Token
	exec(t, db, words.unlimited)

	stall, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stall.Close()
	exec(t, stall, words.stall)
	renewed := make(chan error, 1)
	go func() {
		_, err := d.Request(t.Context(), c)
		renewed <- err
	}()
	select {
	case err := <-renewed:
		t.Errorf("the renewal ended in the stall: %v", err)
		renewed <- err
	case <-time.After(3 * limit):
	}
	exec(t, stall, words.end)
	if err := <-renewed; err != nil {
		t.Errorf("the renewal: %v", err)
	}
}

// The connection breaks before the last step of a release, and the server does not learn of that. The lock is free
// nevertheless when Release says so.
func halfReleased(t *testing.T, s server, running *servers.Server) {
	network := proxy.New(t, running.Addr)
	d, other := s.open(t, network.Addr), s.open(t, running.Addr)
	holder, next := claim(t, time.Minute), claim(t, time.Minute)
	next.Queue = false
	holder.Token = acquire(t, d, holder).Token
	network.DesertNextReplyAfter([]byte("UPDATE holdfast_sessions SET id = ''"))
	if err := d.Release(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	if !request(t, other, next).Granted {
		t.Error("the lock is taken after its release")
	}
	if err := other.Release(t.Context(), holder); err != nil {
		t.Errorf("the release again: %v", err)
	}
	if !request(t, other, next).Granted {
		t.Error("that ended the next holder's claim")
	}
}

// A claim whose connection broke while it waited, and that gets the lock over another one, has nobody waiting behind
// it.
func brokenWhileItWaits(t *testing.T, s server, running *servers.Server) {
	network := proxy.New(t, running.Addr)
	d, other := s.open(t, network.Addr), s.open(t, running.Addr)
	holder, next := claim(t, time.Minute), claim(t, time.Minute)
	holder.Token = acquire(t, other, holder).Token
	request(t, d, next)
	network.Reset()
	if err := other.Release(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	st := acquire(t, d, next)
	next.Token = st.Token
	if st.Contended || request(t, d, next).Contended {
		t.Error("nobody waits but the claim that has the lock")
	}
	if err := d.Release(t.Context(), next); err != nil {
		t.Error(err)
	}
}

func onlyMutexes(t *testing.T, s server, running *servers.Server) {
	client, err := holdfast.Open(t.Context(), s.url(running.Addr))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(context.Background())
	unsupported := map[string]func() error{
		"a reader":    func() error { _, err := client.RWMutex(t.Name()).RLock(t.Context()); return err },
		"a semaphore": func() error { _, err := client.Semaphore(t.Name(), 2).Acquire(t.Context(), 1); return err },
		"the queue":   func() error { _, err := client.Queue(t.Context(), t.Name()); return err },
		"a break":     func() error { return client.Break(t.Context(), t.Name(), "x") },
	}
	for what, try := range unsupported {
		if err := try(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v, want an error that matches errors.ErrUnsupported", what, err)
		}
	}
	err = client.Mutex(t.Name()).Do(t.Context(), func(context.Context, *holdfast.Lease) error {
		_, err := client.Mutex(t.Name()).TryLock(t.Context())
		if !errors.Is(err, holdfast.ErrNotAcquired) {
			t.Errorf("a second mutex: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A claim takes a connection, and gives it to nobody: others would inherit its timeouts, or its lock.
func connections(t *testing.T, s server, running *servers.Server) {
	db := s.Pool(t, running.Addr)
	dialect := map[string]*sqllock.Dialect{"mysql": sqllock.MySQL, "pgx": sqllock.Postgres}[s.Driver]
	d, err := drivertest.Wrap(sqllock.New(t.Context(), db, dialect, &sqllock.Options{Mode: sqllock.Session}))
	if err != nil {
		t.Fatal(err)
	}
	before := db.Stats().InUse
	c := claim(t, time.Minute)
	c.Token = acquire(t, d, c).Token
	if got := db.Stats().InUse; got != before+1 {
		t.Errorf("a claim takes %d connections", got-before)
	}
	opened := db.Stats().OpenConnections
	if err := d.Release(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := db.Stats(); got.InUse != before || got.OpenConnections >= opened {
		t.Errorf("after the release %d connections are in use and %d open, of which there were %d and %d",
			got.InUse, got.OpenConnections, before, opened)
	}
	lost := claim(t, time.Minute)
	acquire(t, d, lost)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if got := db.Stats().InUse; got != 0 {
		t.Errorf("after Close %d connections are in use", got)
	}
	if err := db.PingContext(t.Context()); err != nil {
		t.Errorf("the caller's database was closed: %v", err)
	}
	db.SetMaxOpenConns(1)
	_, err = sqllock.New(t.Context(), db, dialect, &sqllock.Options{Mode: sqllock.Session})
	if err == nil || !strings.Contains(err.Error(), "SetMaxOpenConns") {
		t.Errorf("with a pool of one connection: %v", err)
	}
}

// What clients that ended have left behind is removed on request: claims that waited, and tokens, even of a holder that
// was killed. What is in use stays.
func leftovers(t *testing.T, s server, running *servers.Server) {
	d, db := s.open(t, running.Addr), s.Pool(t, running.Addr)
	named := func(what string) driver.Claim {
		c := claim(t, time.Second)
		c.Name += " " + what
		return c
	}
	kept := named("held")
	kept.TTL = time.Minute
	kept.Token = acquire(t, d, kept).Token

	waiting, killed, used := named("held"), named("killed"), named("used")
	other := s.open(t, running.Addr)
	request(t, other, waiting)
	acquire(t, other, killed)
	s.kill(t, db, killed.Name)
	used.Token = acquire(t, other, used).Token
	if err := errors.Join(other.Release(t.Context(), used), other.Close()); err != nil {
		t.Fatal(err)
	}

	missing := map[driver.Leftover]bool{
		{Kind: "expired claim", Name: waiting.Name}: true,
		{Kind: "last token", Name: killed.Name}:     true,
		{Kind: "last token", Name: used.Name}:       true,
	}
	for end := time.Now().Add(patience); len(missing) > 0; {
		removed, err := driver.Reap(t.Context(), d, time.Millisecond)
		if err != nil || time.Now().After(end) {
			t.Fatalf("not removed: %v, %v", missing, err)
		}
		for _, l := range removed {
			if l.Kind == "last token" && l.Name == kept.Name {
				t.Error("the token of a lock that is held was removed")
			}
			delete(missing, l)
		}
	}
	if st := request(t, d, kept); st.Token != kept.Token {
		t.Errorf("the holder has token %d, and had %d", st.Token, kept.Token)
	}
}

// Clients that live for one lock alone remove what others have left, too.
func shortLives(t *testing.T, s server, running *servers.Server) {
	db := s.Pool(t, running.Addr)
	exec(t, db, "INSERT INTO holdfast_sessions (name, token, id, ttl, session) VALUES ('long ago', 1, '', 1, 1)")
	exec(t, db, "INSERT INTO holdfast_session_claims (name, id, state, token, until)"+
		" VALUES ('long ago', 'c', 'released', 1, 1)")
	left := func() int64 {
		return number(t, db, "SELECT (SELECT COUNT(*) FROM holdfast_sessions WHERE token = 1)"+
			" + (SELECT COUNT(*) FROM holdfast_session_claims WHERE until = 1)")
	}
	for lives := 0; left() > 0; lives++ {
		if lives == 1000 {
			t.Fatalf("%d clients have left %d old rows", lives, left())
		}
		d, err := drivertest.Open(t.Context(), s.url(running.Addr))
		if err != nil {
			t.Fatal(err)
		}
		c := claim(t, time.Minute)
		c.Token = acquire(t, d, c).Token
		if err := errors.Join(d.Release(t.Context(), c), d.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// Close ends what is under way: the Wait of a holder, and requests that wait for their turn.
func closedMeanwhile(t *testing.T, s server, running *servers.Server) {
	d := s.open(t, running.Addr)
	held, waiting := claim(t, time.Minute), claim(t, time.Minute)
	acquire(t, d, held)
	request(t, d, waiting)
	var all sync.WaitGroup
	for _, c := range []driver.Claim{held, waiting} {
		all.Go(func() {
			for err := error(nil); err == nil; {
				_, err = d.Wait(context.Background(), c)
			}
		})
	}
	for range 3 {
		all.Go(func() {
			for err := error(nil); err == nil; {
				_, err = d.Request(context.Background(), waiting)
			}
		})
	}
	driver.Sleep(t.Context(), 300*time.Millisecond) // they are at it
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		all.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("a call goes on after Close")
	}
}

// With the server's memory its locks are gone, and tokens go on.
func restarted(t *testing.T, s server, running *servers.Server) {
	d := s.open(t, running.Addr)
	holder, next := claim(t, time.Minute), claim(t, time.Minute)
	held := acquire(t, d, holder)
	running.Kill(t)
	running.Restart(t)
	if got := acquire(t, s.open(t, running.Addr), next); got.Token <= held.Token {
		t.Errorf("the next holder has token %d after %d", got.Token, held.Token)
	}
	mustBeGone(t, d, holder, held)
}

// A proxy that pools transactions is refused, with the reason; one that pools sessions is not.
func TestProxies(t *testing.T) {
	s := all[1]
	running := s.migrated(t)
	pooled := servers.PgBouncer(t, running, "transaction")
	d, err := drivertest.Open(t.Context(), s.url(pooled.Addr))
	if err == nil {
		d.Close()
	}
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "proxy") {
		t.Errorf("a proxy that pools transactions: %v", err)
	}
	through := s.open(t, servers.PgBouncer(t, running, "session").Addr)
	c := claim(t, time.Minute)
	c.Token = acquire(t, through, c).Token
	try := claim(t, time.Minute)
	try.Queue = false
	if request(t, s.open(t, running.Addr), try).Granted {
		t.Error("two hold the lock")
	}
	if err := through.Release(t.Context(), c); err != nil {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.Start(t).Addr
			_, err := drivertest.Open(t.Context(), s.url(addr))
			if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "holdfast migrate") {
				t.Errorf("without tables: %v", err)
			}
			if err := sqllock.MigrateURL(t.Context(), s.url(addr)); err != nil {
				t.Fatal(err)
			}
			for format, advice := range map[string]string{
				"DELETE FROM holdfast_store":            "holdfast migrate",
				"INSERT INTO holdfast_store VALUES (2)": "same version",
			} {
				exec(t, s.Pool(t, addr), "DELETE FROM holdfast_store")
				exec(t, s.Pool(t, addr), format)
				_, err := drivertest.Open(t.Context(), s.url(addr))
				if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), advice) {
					t.Errorf("after %s: %v, want %q", format, err, advice)
				}
			}
			wrong := strings.Replace(s.url(addr), "mode=session", "mode=sessions", 1)
			_, err = drivertest.Open(t.Context(), wrong)
			if err == nil || !strings.Contains(err.Error(), `"session"`) {
				t.Errorf("an unknown mode: %v", err)
			}
		})
	}
}
