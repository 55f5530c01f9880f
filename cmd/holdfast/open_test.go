package main

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// A process that was stopped while it wrote a file keeps others from opening it. Commands that cron starts must not
// pile up behind it.
func TestOpeningIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	b := &backendFlags{url: "file:" + path}
	s, err := b.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.abandon(t.Context())
	writeForever(t, path)

	b.limit = 50 * time.Millisecond
	_, err = b.open(t.Context())
	e, ok := errors.AsType[*exit](err)
	if !ok || e.code != exitUnavailable || !errors.Is(err, errSlowOpen) {
		t.Errorf("opening a file that a stopped process writes: %v, want %v and exit code %d", err, errSlowOpen,
			exitUnavailable)
	}
}

// writeForever holds the lock of a SQLite file that a writer has, until the test ends.
func writeForever(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(); _ = db.Close() })
}
