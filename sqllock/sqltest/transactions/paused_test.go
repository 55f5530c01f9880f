package transactions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/sqllock"
)

// url is the database as a place for locks.
func (d database) url() string {
	scheme := map[string]string{"mysql": "mysql://root@", "pgx": "postgres://postgres@"}[d.driver]
	return scheme + d.addr + d.dsn[strings.LastIndex(d.dsn, "/"):]
}

// A holder is stopped before it writes, for longer than its lease lives, and goes on as if nothing had happened: what
// the holder after it wrote stays.
func fencePausedHolder(t *testing.T, d database) {
	db := fenced(t, d)
	execute(t, db, "CREATE TABLE writes (token BIGINT)")
	if err := sqllock.MigrateURL(t.Context(), d.url()); err != nil {
		t.Fatal(err)
	}
	late := start(t, "holder", d)
	late.Signal(t, syscall.SIGSTOP)
	if err := write(t.Context(), db, "report", lock(t, d).Token()); err != nil {
		t.Fatal(err)
	}
	late.Signal(t, syscall.SIGCONT)
	late.Cue()
	late.Ends(t)
	mustEqual(t, "writes", number(t, db, "SELECT count(*) FROM writes"), 1)
}

// lock waits for the lock.
func lock(t *testing.T, d database) *holdfast.Lease {
	t.Helper()
	client, err := holdfast.Open(t.Context(), d.url())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	lease, err := client.Mutex("report").Lock(patiently(t))
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// writeLate is the part of a holder that does not look at its lease.
func writeLate(d database) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := holdfast.Open(ctx, d.url())
	if err != nil {
		return err
	}
	lease, err := client.Mutex("report", holdfast.WithTTL(time.Second)).Lock(ctx)
	if err != nil {
		return err
	}
	db, err := d.pool()
	if err != nil {
		return err
	}
	if err := awaitCue(); err != nil {
		return err
	}
	if err := write(ctx, db, "report", lease.Token()); !errors.Is(err, fence.ErrStale) {
		return fmt.Errorf("the late write: %w", err)
	}
	return nil
}
