package experiment

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/lab/classic"
	"github.com/holdfast-go/holdfast/lab/recording"
)

func mysqlNoIndex() Experiment {
	return Experiment{
		Name:     "mysql-no-index",
		Question: "Which rows does SELECT ... FOR UPDATE lock?",
		Needs:    "MariaDB",
		Code:     "classic/mysql_for_update.go",
		Variants: []Variant{
			{Title: "FOR UPDATE on a column without an index", Run: func(s *Trial) { otherRow(s, byName) }},
			{Title: "FOR UPDATE on the key", Right: true, Run: func(s *Trial) { otherRow(s, byID) }},
			{Title: "Holdfast", Ours: true, Run: otherName},
		},
		Answer: func(Report) string {
			return "B could not lock pears while A had apples; with Holdfast it could."
		},
	}
}

// rowNames are the locks that are rows.
var rowNames = []string{"apples", "pears"}

// rows makes the table.
func (s *Trial) rows() database {
	db := s.mariaDB()
	s.Must(classic.MakeForUpdateTable(s.Context(), db.DB, rowNames...))
	return db
}

// begin begins a transaction that waits for a row for so many seconds at most.
func (s *Trial) begin(db database, patience int) *sql.Tx {
	s.Helper()
	conn, err := db.Conn(s.Context())
	s.Must(err)
	s.Cleanup(func() { _ = conn.Close() })
	_, err = conn.ExecContext(s.Context(), fmt.Sprint("SET SESSION innodb_lock_wait_timeout = ", patience))
	s.Must(err)
	tx, err := conn.BeginTx(s.Context(), nil)
	s.Must(err)
	return tx
}

// two begins two such transactions. What it returns ends them, with what they hold.
func (s *Trial) two(db database, patience int) (a, b *sql.Tx, end func()) {
	s.Helper()
	a, b = s.begin(db, patience), s.begin(db, patience)
	return a, b, func() { _, _ = a.Rollback(), b.Rollback() }
}

func byName(ctx context.Context, tx *sql.Tx, row int) error {
	return classic.ForUpdateByName(ctx, tx, rowNames[row])
}

func byID(ctx context.Context, tx *sql.Tx, row int) error {
	return classic.ForUpdateByID(ctx, tx, row+1)
}

// otherRow has A lock one row and B another, and fails if B must wait.
func otherRow(s *Trial, lock func(context.Context, *sql.Tx, int) error) {
	db := s.rows()
	a, b, end := s.two(db, 1)
	defer end()
	s.Must(lock(s.Context(), a, 0))
	endA, waited := s.Share("A: apples"), s.Wait("B: pears")
	err := lock(s.Context(), b, 1)
	waited()
	switch {
	case err == nil:
		s.Share("B: pears")()
		s.Result(false, "B locks pears while A has apples")
	case classic.IsNumber(err, classic.LockWaitTimeout):
		s.Mark("B: pears", recording.Noted, "error 1205 after a second: A's transaction has locked all rows")
		s.Result(true, "B cannot lock pears while A has apples: error 1205, lock wait timeout")
	default:
		s.Must(err)
	}
	endA()
}

// otherName has A lock one name and B another.
func otherName(s *Trial) {
	url := s.mariaDB().url
	a, err := s.Client(url).Mutex(rowNames[0]).Lock(s.Context())
	s.Must(err)
	end := s.Share("A: apples")
	b, err := s.Client(url).Mutex(rowNames[1]).TryLock(s.Context())
	if err == nil {
		s.Share("B: pears")()
		s.Must(b.Release(s.Context()))
	}
	end()
	s.Must(a.Release(s.Context()))
	if err != nil {
		s.Result(true, "B cannot lock pears: %v", err)
		return
	}
	s.Result(false, "B locks pears while A has apples")
}

func mysqlDeadlock() Experiment {
	return Experiment{
		Name:     "mysql-deadlock",
		Question: "What if two want the same two locks, or one holds its lock for long?",
		Needs:    "MariaDB",
		Code:     "classic/mysql_for_update.go",
		Variants: []Variant{
			{Title: "FOR UPDATE, held for longer than innodb_lock_wait_timeout", Run: waitTooLong},
			{Title: "FOR UPDATE of two rows, in different orders", Run: crossing},
			{Title: "Holdfast, held for as long", Ours: true, Run: waitLong},
			{Title: "Holdfast's LockAll", Ours: true, Run: lockBoth},
		},
		Answer: func(Report) string {
			return "Clients that waited too long, or took two rows crosswise, got an error instead of a lock; " +
				"with Holdfast all got theirs."
		},
	}
}

// waitTooLong has B wait for a row that A holds until B has given up.
func waitTooLong(s *Trial) {
	db := s.rows()
	a, b, end := s.two(db, 1)
	defer end()
	s.Must(byID(s.Context(), a, 0))
	endA, waited := s.Hold("A"), s.Wait("B")
	err := byID(s.Context(), b, 0)
	waited()
	endA()
	if !classic.IsNumber(err, classic.LockWaitTimeout) {
		s.Must(err)
	}
	s.Mark("B", recording.Noted, "error 1205")
	s.Result(err != nil, "B gets error 1205, lock wait timeout, in place of the lock")
}

// crossing has A lock apples and pears, and B pears and apples.
func crossing(s *Trial) {
	db := s.rows()
	a, b, end := s.two(db, 30)
	defer end()
	s.Must(byID(s.Context(), a, 0))
	s.Must(byID(s.Context(), b, 1))
	second := make(chan error, 1)
	endA, endB := s.Wait("A: apples, wants pears"), s.Wait("B: pears, wants apples")
	go func() {
		err := byID(s.Context(), a, 1)
		endA()
		second <- err
	}()
	errB := byID(s.Context(), b, 0)
	endB()
	if classic.IsNumber(errB, classic.Deadlock) {
		s.Must(b.Rollback())
	}
	errA := <-second
	dead := classic.IsNumber(errA, classic.Deadlock) || classic.IsNumber(errB, classic.Deadlock)
	s.Mark("A: apples, wants pears", recording.Noted, "%s", outcome(errA))
	s.Mark("B: pears, wants apples", recording.Noted, "%s", outcome(errB))
	s.Result(dead, "the database ended one of the two transactions with error 1213, deadlock")
}

func outcome(err error) string {
	if err == nil {
		return "it has both rows"
	}
	return err.Error()
}

// waitLong has B wait until A has given the lock back, which it does only once it has seen B wait for a second.
func waitLong(s *Trial) {
	url := s.mariaDB().url
	a, b := s.Client(url), s.Client(url)
	lease, end := s.lock("A", a)
	got := make(chan error, 1)
	go func() {
		granted := s.Wait("B")
		next, err := b.Mutex("lab").Lock(s.Context())
		if err == nil {
			granted()
			s.Work("B")
			err = next.Release(s.Context())
		}
		got <- err
	}()
	s.mustSoon(func() bool {
		queue, err := a.Queue(s.Context(), "lab")
		s.Must(err)
		return len(queue) == 2 && s.now() > 1200
	})
	end()
	s.Must(lease.Release(s.Context()))
	if err := <-got; err != nil {
		s.Result(true, "B does not get the lock: %v", err)
		return
	}
	s.Exclusive()
}

// lockBoth has two lock the same two, named in different orders, again and again.
func lockBoth(s *Trial) {
	url := s.mariaDB().url
	const rounds = 20
	done := make(chan error, 2)
	for i, who := range []string{"A", "B"} {
		c := s.Client(url)
		first, second := c.Mutex(rowNames[i]), c.Mutex(rowNames[1-i])
		go func() {
			for range rounds {
				leases, err := holdfast.LockAll(s.Context(), first, second)
				if err != nil {
					done <- err
					return
				}
				s.Hold(who)()
				if err := leases.Release(s.Context()); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			s.Result(true, "one of the two failed: %v", err)
			return
		}
	}
	s.Result(false, "both locked both, %s", fmt.Sprint(rounds,
		" times each: LockAll does so in the order of the names"))
}
