package experiment

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"

	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/lab/recording"
)

// A resource is what locks protect: an account in a database, which refuses stale tokens of those that show one.
type resource struct {
	source string
	db     *sql.DB
}

// resource makes an account with nothing in it.
func (s *Trial) resource() *resource {
	r, err := openResource("file:" + filepath.Join(s.TempDir(), "account.db") + "?_pragma=busy_timeout(10000)")
	s.Must(err)
	s.Cleanup(func() { _ = r.db.Close() })
	_, err = r.db.ExecContext(s.Context(), "CREATE TABLE account (writer TEXT NOT NULL)")
	s.Must(err)
	s.Must(fence.Migrate(s.Context(), r.db))
	return r
}

func openResource(source string) (*resource, error) {
	db, err := sql.Open("sqlite", source)
	return &resource{source, db}, err
}

// Write adds a line of a writer's. With a token it is refused if a greater one was there before.
func (r *resource) Write(ctx context.Context, writer string, token uint64) (err error) {
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
	if token != 0 {
		if err := fence.SQL(ctx, tx, "account", token); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO account VALUES (?)", writer); err != nil {
		return err
	}
	return tx.Commit()
}

// ignoreDone forgets that a transaction was committed already.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// write writes for somebody, marks whether that was accepted, and returns it.
func (s *Trial) write(r *resource, who string, token uint64) (accepted bool) {
	err := r.Write(s.Context(), who, token)
	return s.wrote(who, err == nil, errors.Is(err, fence.ErrStale), err)
}

// lateWrite ends an experiment in which A and B both hold the lock: B writes, and then A. It fails if A's write is
// accepted, and otherwise says why it is not.
func (s *Trial) lateWrite(r *resource, tokenA, tokenB uint64, endA func(), refused string) {
	endB := s.Hold("B")
	s.write(r, "B", tokenB)
	accepted := s.write(r, "A", tokenA)
	endB()
	endA()
	if accepted {
		s.Result(true, "both hold the lock, and A's write is accepted after B's")
		return
	}
	s.Result(false, "%s", refused)
}

// wrote marks how a write ended, and ends the experiment if that was otherwise than by being accepted or refused.
func (s *Trial) wrote(who string, accepted, stale bool, err error) bool {
	switch {
	case accepted:
		s.Mark(who, recording.Wrote, "its write is accepted")
	case stale:
		s.Mark(who, recording.Refused, "its write is refused: others with a greater token have written since")
	default:
		s.Must(err)
	}
	return accepted
}
