package transactions

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
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/sqllock"
)

// migrated is a database in which InTx works.
func migrated(t testing.TB, d database) *sql.DB {
	t.Helper()
	return d.with(t, sqllock.MigrateInTx)
}

func nothing(context.Context, *sql.Tx) error { return nil }

// hold takes a lock until release is called, or the test ends.
func hold(t testing.TB, db *sql.DB, name string, how ...sqllock.RowLock) (release func()) {
	t.Helper()
	held, done, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- sqllock.InTx(context.WithoutCancel(t.Context()), db, name, func(context.Context, *sql.Tx) error {
			close(held)
			<-done
			return nil
		}, how...)
	}()
	select {
	case <-held:
	case err := <-ended:
		t.Fatalf("hold %q: %v", name, err)
	}
	release = sync.OnceFunc(func() {
		close(done)
		if err := <-ended; err != nil {
			t.Errorf("hold %q: %v", name, err)
		}
	})
	t.Cleanup(release)
	return release
}

func mustNotAcquire(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, holdfast.ErrNotAcquired) {
		t.Errorf("the error is %v, want one that matches ErrNotAcquired", err)
	}
}

func inTxTaken(t *testing.T, d database) {
	db := migrated(t, d)
	release := hold(t, db, "a")
	mustNotAcquire(t, sqllock.InTx(t.Context(), db, "a", nothing, sqllock.NoWait))
	mustNotAcquire(t, sqllock.InTx(t.Context(), db, "a", nothing, sqllock.SkipLocked))
	mustNotAcquire(t, sqllock.InTx(t.Context(), db, "a", nothing, sqllock.Share|sqllock.NoWait))
	err := sqllock.InTx(shortly(t), db, "a", nothing)
	mustNotAcquire(t, err)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error does not match the context's cause: %v", err)
	}
	for _, other := range []string{"b", "A", "a ", "ä", "a/b", strings.Repeat("n", 1000), "😀", "'a';--"} {
		if err := sqllock.InTx(patiently(t), db, other, nothing, sqllock.NoWait); err != nil {
			t.Errorf("%q waits for another: %v", other, err)
		}
	}
	release()
	for _, how := range []sqllock.RowLock{sqllock.Exclusive, sqllock.NoWait, sqllock.SkipLocked, sqllock.Share} {
		if err := sqllock.InTx(patiently(t), db, "a", nothing, how); err != nil {
			t.Errorf("%d, free again: %v", how, err)
		}
	}
}

// A client stands still while it makes the row of a name. Who does not wait for a lock does not wait for that one,
// either.
func inTxRowIsBeingMade(t *testing.T, d database) {
	db := migrated(t, d)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, tx, "INSERT INTO holdfast_rows (name) VALUES ('a')")
	for _, how := range []sqllock.RowLock{sqllock.NoWait, sqllock.SkipLocked, sqllock.Share | sqllock.SkipLocked} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err := sqllock.InTx(ctx, db, "a", nothing, how)
		mustNotAcquire(t, err)
		if ctx.Err() != nil {
			t.Errorf("%d waits: %v", how, err)
		}
		cancel()
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := sqllock.InTx(patiently(t), db, "a", nothing, sqllock.SkipLocked); err != nil {
		t.Error(err)
	}
}

func inTxShared(t *testing.T, d database) {
	db := migrated(t, d)
	defer hold(t, db, "a", sqllock.Share)()
	defer hold(t, db, "a", sqllock.Share|sqllock.NoWait)()
	defer hold(t, db, "a", sqllock.Share|sqllock.SkipLocked)()
	mustNotAcquire(t, sqllock.InTx(t.Context(), db, "a", nothing, sqllock.NoWait))
	mustNotAcquire(t, sqllock.InTx(t.Context(), db, "a", nothing, sqllock.SkipLocked))
}

// A waiter sees what the holder has committed, although it began to wait before.
func inTxSeesWhatWasCommitted(t *testing.T, d database) {
	if d.driver == "pgx" { // of which the default must not matter
		d.dsn += "?default_transaction_isolation=repeatable%20read"
	}
	db := migrated(t, d)
	execute(t, db, "CREATE TABLE data (n INT)", "INSERT INTO data VALUES (1)")
	held, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- sqllock.InTx(patiently(t), db, "a", func(ctx context.Context, tx *sql.Tx) error {
			close(held)
			if _, err := tx.ExecContext(ctx, "UPDATE data SET n = 2"); err != nil {
				return err
			}
			return awaitWaiter(ctx, d, db)
		})
	}()
	<-held
	got := 0
	err := sqllock.InTx(patiently(t), db, "a", func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT n FROM data").Scan(&got)
	})
	if err := errors.Join(err, <-ended); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "the waiter reads", got, 2)
}

// awaitWaiter waits until somebody waits for a lock, where the database tells.
func awaitWaiter(ctx context.Context, d database, db *sql.DB) error {
	query := map[string]string{
		"mysql": "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
		"pgx":   "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
	}[d.driver]
	for waiters := 0; query != "" && waiters == 0; {
		if err := db.QueryRowContext(ctx, query).Scan(&waiters); err != nil {
			return err
		}
		// MariaDB looks only after so long without a question.
		if err := driver.Sleep(ctx, 150*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func inTxRollsBack(t *testing.T, d database) {
	db := migrated(t, d)
	execute(t, db, "CREATE TABLE data (n INT)")
	insert := func(then func(*sql.Tx) error) error {
		return sqllock.InTx(patiently(t), db, "a", func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO data VALUES (1)"); err != nil {
				return err
			}
			return then(tx)
		})
	}
	failure := errors.New("failure")
	if err := insert(func(*sql.Tx) error { return failure }); err != failure {
		t.Errorf("the error of the function became %v", err)
	}
	func() {
		defer func() { mustEqual(t, "what was recovered", recover(), any("panic")) }()
		insert(func(*sql.Tx) error { panic("panic") })
	}()
	if err := insert(func(tx *sql.Tx) error { return tx.Rollback() }); err == nil {
		t.Error("a transaction that the function ended is reported as done")
	}
	mustEqual(t, "rows of what failed", number(t, db, "SELECT count(*) FROM data"), 0)
	if err := insert(func(*sql.Tx) error { return nil }); err != nil {
		t.Error(err)
	}
	mustEqual(t, "rows of what did not", number(t, db, "SELECT count(*) FROM data"), 1)
	mustEqual(t, "connections in use", db.Stats().InUse, 0)
}

// Two transactions that want the rows of each other: the database undoes one, which runs again.
func inTxRunsAgain(t *testing.T, d database) {
	db := migrated(t, d)
	execute(t, db, "CREATE TABLE data (id INT PRIMARY KEY, n INT)", "INSERT INTO data VALUES (1, 0), (2, 0)")
	var met sync.WaitGroup
	met.Add(2)
	runs := make([]int, 2)
	bothMet := func() { met.Done(); met.Wait() }
	meet := [2]func(){sync.OnceFunc(bothMet), sync.OnceFunc(bothMet)}
	ended := make(chan error)
	for i := range 2 {
		go func() {
			ended <- sqllock.InTx(patiently(t), db, fmt.Sprint(i), func(ctx context.Context, tx *sql.Tx) error {
				runs[i]++
				mine, other := i+1, 2-i
				if _, err := tx.ExecContext(ctx, d.text("UPDATE data SET n = n + 1 WHERE id = ?"), mine); err != nil {
					return err
				}
				meet[i]()
				_, err := tx.ExecContext(ctx, d.text("UPDATE data SET n = n + 1 WHERE id = ?"), other)
				return err
			})
		}()
	}
	if err := errors.Join(<-ended, <-ended); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "sum", number(t, db, "SELECT sum(n) FROM data"), 4)
	if runs[0]+runs[1] < 3 {
		t.Errorf("they ran %v times, so there was no deadlock", runs)
	}
}

// The server ends the connection of the holder: the next one gets the lock, and the holder's work is undone.
func inTxCutOff(t *testing.T, d database) {
	db := migrated(t, d)
	execute(t, db, "CREATE TABLE data (n INT)")
	err := sqllock.InTx(patiently(t), db, "a", func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO data VALUES (1)"); err != nil {
			return err
		}
		if err := cutOff(ctx, d, db, tx); err != nil {
			return err
		}
		return sqllock.InTx(ctx, db, "a", nothing) // another transaction, which gets the lock
	})
	if !errors.Is(err, holdfast.ErrUnknown) {
		t.Errorf("the COMMIT over a dead connection: %v, want ErrUnknown", err)
	}
	mustEqual(t, "rows", number(t, db, "SELECT count(*) FROM data"), 0)
}

// cutOff lets the server end the connection of a transaction.
func cutOff(ctx context.Context, d database, db *sql.DB, tx *sql.Tx) error {
	var id int64
	which, end := "SELECT connection_id()", "KILL %d"
	if d.driver == "pgx" {
		which, end = "SELECT pg_backend_pid()", "SELECT pg_terminate_backend(%d)"
	}
	if err := tx.QueryRowContext(ctx, which).Scan(&id); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf(end, id))
	return err
}

// The server commits, and its answer is lost.
func inTxCommitUnknown(t *testing.T, d database) {
	direct := migrated(t, d)
	execute(t, direct, "CREATE TABLE data (n INT)")
	network := proxy.New(t, d.addr)
	db := d.through(network.Addr).open(t)
	commit := map[string]string{"mysql": "COMMIT", "pgx": "commit"}[d.driver]
	err := sqllock.InTx(patiently(t), db, "a", nothing) // which makes the row
	if err != nil {
		t.Fatal(err)
	}
	err = sqllock.InTx(patiently(t), db, "a", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO data VALUES (1)")
		network.DropNextReplyAfter([]byte(commit))
		return err
	})
	if !errors.Is(err, holdfast.ErrUnknown) {
		t.Errorf("it is reported as %v, want ErrUnknown", err)
	}
	mustEqual(t, "rows", number(t, direct, "SELECT count(*) FROM data"), 1)
}

// The server executes neither COMMIT nor ROLLBACK, as MySQL does for a user who has asked for enough in this hour. The
// lock is free nevertheless, and what was done under it is undone, whoever gets the connection next.
func inTxEndRefused(t *testing.T, d database) {
	if d.driver == "pgx" {
		t.Skip("PostgreSQL ends each transaction that it is told to end")
	}
	direct := migrated(t, d)
	execute(t, direct, "CREATE TABLE data (n INT)", "CREATE USER busy WITH MAX_QUERIES_PER_HOUR 1000",
		"GRANT ALL ON *.* TO busy")
	defer execute(t, direct, "DROP USER busy")
	db := database{driver: d.driver, dsn: strings.Replace(d.dsn, "root@", "busy@", 1)}.open(t)
	failure := errors.New("a failure")
	for name, result := range map[string]error{"COMMIT": nil, "ROLLBACK": failure} {
		err := sqllock.InTx(patiently(t), db, "a", func(ctx context.Context, tx *sql.Tx) error {
			allow(t, direct, 1)
			execute(t, tx, "INSERT INTO data VALUES (1)") // which is the one
			return result
		})
		if err == nil || result != nil && err != result {
			t.Errorf("%s: %v", name, err)
		}
		if err := sqllock.InTx(patiently(t), direct, "a", nothing); err != nil {
			t.Errorf("%s: the lock is not free: %v", name, err)
		}
		execute(t, direct, "ALTER USER busy WITH MAX_QUERIES_PER_HOUR 1000")
		if err := sqllock.InTx(patiently(t), db, "b", nothing); err != nil {
			t.Errorf("%s: afterwards: %v", name, err)
		}
		mustEqual(t, name+": rows", number(t, direct, "SELECT count(*) FROM data"), 0)
	}
}

// allow lets the user busy send so many statements in an hour, those of its connections included that are open.
func allow(t *testing.T, db *sql.DB, statements int) {
	t.Helper()
	alter := "ALTER USER busy"
	if number(t, db, "SELECT VERSION() LIKE '%MariaDB%'") == 1 { // it would not look at those
		alter = "GRANT USAGE ON *.* TO busy"
	}
	execute(t, db, fmt.Sprintf("%s WITH MAX_QUERIES_PER_HOUR %d", alter, statements))
}

// The server has stopped, or the line is cut without a word, just when the transaction is to end. InTx does not wait
// much longer than its context lasts.
func inTxEndUnanswered(t *testing.T, d database) {
	pace.Run(t, "in time", func(t *pace.T) { endUnanswered(t, d) })
}

func endUnanswered(t *pace.T, d database) {
	migrated(t, d)
	failure := errors.New("a failure")
	for name, result := range map[string]error{"COMMIT": nil, "ROLLBACK": failure} {
		network := proxy.New(t, d.addr)
		db := d.through(network.Addr).open(t)
		if err := sqllock.InTx(patiently(t), db, name, nothing); err != nil { // which makes the row
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), t.Scaled(2*time.Second))
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			ended <- sqllock.InTx(ctx, db, name, func(context.Context, *sql.Tx) error {
				network.BlackHole()
				return result
			})
		}()
		select {
		case err := <-ended:
			if result == nil && !errors.Is(err, holdfast.ErrUnknown) || result != nil && err != result {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(patience):
			t.Errorf("%s: it waits long after its context has ended", name)
		}
		network.Heal()
		network.Reset()
	}
}

func TestInTxOnSQLite(t *testing.T) {
	d := sqliteFile(t)
	db := migrated(t, d)
	release := hold(t, db, "a")
	err := sqllock.InTx(shortly(t), db, "b", nothing) // all names are one
	mustNotAcquire(t, err)
	release()
	for _, how := range []sqllock.RowLock{sqllock.Share, sqllock.NoWait, sqllock.SkipLocked} {
		if err := sqllock.InTx(t.Context(), db, "a", nothing, how); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%d: %v", how, err)
		}
	}
}

func inTxRefuses(t *testing.T, d database) {
	db := d.open(t)
	err := sqllock.InTx(t.Context(), db, "a", nothing)
	if err == nil || !strings.Contains(err.Error(), "sqllock.MigrateInTx") {
		t.Errorf("without the table it does not say what to do: %v", err)
	}
	for _, name := range []string{"", strings.Repeat("n", 1025)} {
		if err := sqllock.InTx(t.Context(), db, name, nothing); !errors.Is(err, holdfast.ErrInvalidName) {
			t.Errorf("a name of %d bytes: %v", len(name), err)
		}
	}
	if err := sqllock.InTx(t.Context(), db, "a", nothing, sqllock.NoWait, sqllock.SkipLocked); err == nil {
		t.Error("NoWait with SkipLocked is no error")
	}
}

// Many make the table, and then rows, at the same time.
func inTxFirstUse(t *testing.T, d database) {
	db := d.open(t)
	const many = 16
	ended := make(chan error)
	for i := range many {
		go func() {
			err := sqllock.MigrateInTx(t.Context(), db)
			for j := 0; j < 10 && err == nil; j++ {
				err = sqllock.InTx(patiently(t), db, fmt.Sprint(j*(i%2+1)), nothing)
			}
			ended <- err
		}()
	}
	for range many {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// A row may be deleted, even while others wait for it.
func inTxRowDeleted(t *testing.T, d database) {
	db := migrated(t, d)
	hold(t, db, "a")()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, tx, "DELETE FROM holdfast_rows")
	ended := make(chan error)
	go func() { ended <- sqllock.InTx(patiently(t), db, "a", nothing) }()
	if err := errors.Join(awaitWaiter(patiently(t), d, db), tx.Commit(), <-ended); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "rows", number(t, db, "SELECT count(*) FROM holdfast_rows"), 1)
}

// With a limit of the database's own a wait goes on until the caller's limit.
func inTxOutlasts(t *testing.T, d database) {
	db := migrated(t, d)
	if d.driver == "pgx" {
		d.dsn += "?lock_timeout=100"
	} else {
		d.dsn += "?innodb_lock_wait_timeout=1"
	}
	impatient := d.open(t)
	release := hold(t, db, "a")
	ended := make(chan error, 1)
	go func() { ended <- sqllock.InTx(patiently(t), impatient, "a", nothing) }()
	select {
	case err := <-ended:
		t.Errorf("it did not wait: %v", err)
	case <-time.After(1500 * time.Millisecond):
	}
	release()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
