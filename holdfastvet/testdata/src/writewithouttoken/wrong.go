package writewithouttoken

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"log/slog"
	"net/http"

	"github.com/holdfast-go/holdfast"
	"github.com/jackc/pgx/v5/pgxpool"
)

func inSection(ctx context.Context, m *holdfast.Mutex, db *sql.DB) error {
	return m.Do(ctx, func(ctx context.Context, lease *holdfast.Lease) error {
		db.Exec("UPDATE a SET b = 1") // want `^this write does not carry the fencing token of the lock`

		if err := db.QueryRow("  insert INTO a VALUES (1) RETURNING id").Err(); err != nil { // want `this write`
			return err
		}
		_, err := db.ExecContext(ctx, "UPDATE a SET b = $1", lease.Name()) // want `this write`
		return err
	})
}

func afterAcquisition(ctx context.Context, m *holdfast.Mutex, tx *sql.Tx) error {
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	defer lease.Release(ctx)
	if _, err := tx.ExecContext(ctx, "DELETE FROM a"); err != nil { // want `this write`
		lease.Release(ctx)
		return err
	}
	http.Post("http://a", "text/plain", nil) // want `this write`
	return nil
}

func withLease(ctx context.Context, lease *holdfast.Lease, client *http.Client) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://a", nil) // want `this write`
	if err != nil {
		return err
	}
	_, err = client.Do(r)
	return err
}

// A token in one statement says nothing of another, unless both are one transaction.
func oneOfTwo(ctx context.Context, lease *holdfast.Lease, db *sql.DB) {
	db.Exec("UPDATE a SET b = $1", lease.Token())
	db.Exec("UPDATE a SET c = 1") // want `this write`
}

func withPool(ctx context.Context, lease *holdfast.Lease, pool *pgxpool.Pool) {
	pool.Exec(ctx, "UPDATE a SET b = $1", lease.Token())
	pool.Exec(ctx, "UPDATE a SET c = 1") // want `this write`
}

// What a function got beside the token, and what a section uses of its surroundings, does not have it by that.
func beside(ctx context.Context, m *holdfast.Mutex, tx *sql.Tx, db *sql.DB) error {
	err := m.Do(ctx, func(held context.Context, lease *holdfast.Lease) error {
		if err := fence(ctx, tx, lease.Token()); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "UPDATE a SET b = 1") // want `this write`
		return err
	})
	return err
}

func configured(ctx context.Context, lease *holdfast.Lease, s *store) {
	put(1)   // want `this write`
	s.put(1) // want `this write`
	s.get(1)
}

type store struct{}

func put(any)          {}
func (*store) put(any) {}
func (*store) get(any) {}

// What is said beside the token does not get it.
func logged(lease *holdfast.Lease, db *sql.DB, order string, say func(...any)) {
	log.Println("shipping", order, lease.Token())
	say("shipping", order, lease.Token())
	db.Exec("UPDATE a SET b = 1 WHERE c = $1", order) // want `this write`
}

func printed(lease *holdfast.Lease, db *sql.DB, order *[]byte) {
	fmt.Println("shipping", order, lease.Token())
	db.Exec("UPDATE a SET b = 1 WHERE c = $1", order) // want `this write`
}

type shelf struct {
	log  *slog.Logger
	tx   *sql.Tx
	name string
}

func (s *shelf) fill(lease *holdfast.Lease) {
	s.log.Info("filling", "token", lease.Token())
	s.tx.Exec("UPDATE a SET b = 1 WHERE c = $1", s.name) // want `this write`
}

// No database looks into a context.
func inContextOnly(ctx context.Context, lease *holdfast.Lease, db *sql.DB) {
	ctx = newContext(ctx, lease.Token())
	db.ExecContext(ctx, "UPDATE a SET b = 1") // want `this write`
}
