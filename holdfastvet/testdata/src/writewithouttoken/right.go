package writewithouttoken

import (
	"context"
	"database/sql"
	"net/http"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast"
)

func fence(ctx context.Context, tx *sql.Tx, token uint64) error    { return nil }
func newContext(ctx context.Context, token uint64) context.Context { return ctx }

func inArguments(ctx context.Context, m *holdfast.Mutex, db *sql.DB) error {
	return m.Do(ctx, func(ctx context.Context, lease *holdfast.Lease) error {
		token := int64(lease.Token())
		text := strconv.FormatInt(token, 10)
		args := []any{1, text}
		if _, err := db.ExecContext(ctx, "UPDATE a SET b = $1, c = $2", args...); err != nil {
			return err
		}
		http.Post("http://a", "text/plain", strings.NewReader(text))
		_, err := db.ExecContext(ctx, "UPDATE a SET b = $1", int64(lease.Token()))
		return err
	})
}

func fenced(token uint64) (int, *sql.Tx) { return 0, nil }

func declared(lease *holdfast.Lease, db *sql.DB) {
	var _, tx = fenced(lease.Token())
	tx.Exec("UPDATE a SET b = 1")
	var _, text = "b", strconv.FormatUint(lease.Token(), 10)
	db.Exec("UPDATE a SET b = $1", text)
}

func inTransaction(ctx context.Context, lease *holdfast.Lease, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fence(ctx, tx, lease.Token()); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE a SET b = 1"); err != nil {
		return err
	}
	return tx.Commit()
}

func inHeader(ctx context.Context, lease *holdfast.Lease, client *http.Client) error {
	r, err := http.NewRequestWithContext(ctx, "POST", "http://a", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Fencing-Token", strconv.FormatUint(lease.Token(), 10))
	_, err = client.Do(r)
	return err
}

func inContext(ctx context.Context, lease *holdfast.Lease, client *http.Client) error {
	ctx = newContext(ctx, lease.Token())
	r, err := http.NewRequestWithContext(ctx, "POST", "http://a", nil)
	if err != nil {
		return err
	}
	_, err = client.Do(r)
	return err
}

func reads(ctx context.Context, lease *holdfast.Lease, db *sql.DB) error {
	http.Get("http://a")
	http.NewRequest("GET", "http://a", nil)
	http.NewRequest("", "http://a", nil)
	return db.QueryRowContext(ctx, "SELECT a FROM b").Err()
}

func noLock(ctx context.Context, db *sql.DB) {
	db.Exec("UPDATE a SET b = 1")
}

func beforeAndAfter(ctx context.Context, m *holdfast.Mutex, db *sql.DB) error {
	db.Exec("UPDATE a SET b = 1")
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	if err := lease.Release(ctx); err != nil {
		return err
	}
	_, err = db.Exec("UPDATE a SET b = 1")
	return err
}
