package shedlock

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// What is left of claims goes when no late request can come: clients that live for one lock alone sweep, too, and a
// lock that was taken leaves nothing with who only tried. Nor does the last token stay that the clock has overtaken.
func TestNothingStays(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.begin(t).Addr
			db := s.Pool(t, addr)
			ask := func(query string) (n int64) {
				t.Helper()
				if err := db.QueryRow(query).Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			once := func(name string) (granted int64) { // by a client of its own, and tried by another claim
				t.Helper()
				d, err := drivertest.Open(t.Context(), s.URL(addr)+"?layout=shedlock")
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				for range 2 {
					c := claimOf(name)
					c.TTL = 500 * time.Millisecond
					got := request(t, d, c)
					if !got.Granted {
						continue
					}
					granted++ // the second too, if the first has expired
					c.Token = got.Token
					defer func() {
						if err := d.Release(t.Context(), c); err != nil && !errors.Is(err, driver.ErrGone) {
							t.Error(err)
						}
					}()
				}
				return granted
			}
			var granted int64
			for range 3 {
				granted += once("once")
			}
			if n := ask("SELECT count(*) FROM holdfast_guests WHERE state <> 'last'"); n > granted {
				t.Errorf("%d claims left %d rows", granted, n)
			}
			old := "SELECT count(*) FROM holdfast_guests WHERE name LIKE '%/once'"
			if s.Name == "postgres" {
				old = strings.Replace(old, "name", "encode(name, 'escape')", 1)
			}
			for lives := 0; ask(old) > 0; lives++ { // one in fifty sweeps, once the TTLs are over
				if lives == 1000 {
					t.Fatalf("%d clients have left old rows", lives)
				}
				once("later")
			}
		})
	}
}

// A request may be under way at the server, behind what somebody else has locked, when its caller gives up and takes it
// back. It then takes the lock for nobody, whether the lock had a row before or not.
func TestUndoneWhileUnderWay(t *testing.T) {
	t.Parallel()
	readCommitted := map[string][]string{"mariadb": {"--transaction-isolation=READ-COMMITTED"}} // which locks less
	lockRow := "SELECT name FROM shedlock WHERE name = 'job' FOR UPDATE"
	lockNone := map[string]string{ // so that nobody inserts the row, though it is not there to be found
		"mariadb":  lockRow,
		"postgres": "INSERT INTO shedlock VALUES ('job', now(), now(), 'java-host')",
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.begin(t, readCommitted[s.Name]...).Addr
			undoWhileBlocked(t, s, addr, lockNone[s.Name])
			undoWhileBlocked(t, s, addr, lockRow)
		})
	}
}

// undoWhileBlocked takes a request back which waits for what a statement has locked.
func undoWhileBlocked(t *testing.T, s server, addr, locking string) {
	blocked := map[string]string{
		// Not innodb_trx: that is a copy, which is made anew only for who asks less often than ten times a second.
		"mariadb":  "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_row_lock_current_waits'",
		"postgres": "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
	}
	db := s.Pool(t, addr)
	d, other := s.open(t, addr), s.open(t, addr)
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec(locking); err != nil {
		t.Fatal(err)
	}
	wait := func(n int, done <-chan error) {
		t.Helper()
		var found int
		// InnoDB answers from a cache, which it renews when nobody has read it for 100 ms.
		for end := time.Now().Add(patience); found < n && len(done) == 0; time.Sleep(150 * time.Millisecond) {
			if err := db.QueryRow(blocked[s.Name]).Scan(&found); err != nil || time.Now().After(end) {
				t.Fatalf("%d statements are blocked, want %d: %v", found, n, err)
			}
		}
	}
	c := claimOf("job")
	asked, undone := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := d.Request(context.Background(), c)
		asked <- err
	}()
	wait(1, nil)
	go func() { undone <- other.Release(context.Background(), c) }()
	wait(2, undone)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for _, answer := range []chan error{undone, asked} {
		if err := <-answer; err != nil && !driver.IsAnswer(err) {
			t.Error(err)
		}
	}
	next := claimOf("job")
	st := request(t, other, next)
	if !st.Granted {
		t.Errorf("%s: after a request was taken back: %+v", locking, st)
	}
	next.Token = st.Token
	if err := other.Release(t.Context(), next); err != nil {
		t.Error(err)
	}
}

// A server has no room left when a request has taken the lock already. Nothing may count as not done then, or nobody
// would give the lock back.
func TestRefusedHalfWay(t *testing.T) {
	t.Parallel()
	s := all[1]
	addr := s.begin(t).Addr
	d := s.open(t, addr)
	for _, statement := range []string{
		`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN RAISE 'no room' USING ERRCODE = TG_ARGV[0]; END $$`,
		`CREATE TRIGGER notnow BEFORE UPDATE ON holdfast_guests FOR EACH ROW
			WHEN (NEW.state = 'granted' AND NEW.ttl < 90000000) EXECUTE FUNCTION full_disk('53100')`,
		`CREATE TRIGGER refused BEFORE UPDATE ON holdfast_guests FOR EACH ROW
			WHEN (NEW.state = 'granted' AND NEW.ttl > 90000000) EXECUTE FUNCTION full_disk('42501')`,
	} {
		if _, err := s.Pool(t, addr).ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for name, ttl := range map[string]time.Duration{"not now": time.Minute, "refused": 2 * time.Minute} {
		c := claimOf(name)
		c.TTL = ttl
		_, err := d.Request(t.Context(), c)
		if answer, ok := errors.AsType[*driver.ServerError](err); !ok || answer.Effect != driver.MayHaveHappened {
			t.Errorf("%s: %v", name, err)
		}
		if errors.Is(err, driver.ErrUnsent) || driver.IsAnswer(err) {
			t.Errorf("%s: nobody would undo it after %v", name, err)
		}
	}
}
