package claimstest

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// Faults lets a server answer with errors that it has for states which a test cannot bring about.
type Faults struct {
	Prepare []string // makes what it needs
	// Raise lets the next two claims that are added to the queues fail with this error.
	Raise func(code string) []string
	Stop  []string // lets none fail, and removes what was made
	// Undone are codes of errors after which nothing was done, and the same connection can be asked again.
	Undone []string
	Lost   []string // codes of those after which another connection may do better
	// Refuse refuses to write, as a server does that is not the primary any more.
	Refuse func(*testing.T, *sql.DB) (allow func())
	User   func(t *testing.T, db *sql.DB, url string) string // the URL for a user whom that concerns
}

// What a server says it has undone is asked again, and the caller does not learn of it.
func testUndoneByServer(t *testing.T, s Store) {
	db, d := s.admin(t), s.client(t)
	changeAll(t, db, s.Faults.Prepare)
	defer changeAll(t, db, s.Faults.Stop)
	for _, code := range s.Faults.Undone {
		changeAll(t, db, s.Faults.Raise(code))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		st, err := d.Request(ctx, detached(t.Name()+code))
		if err != nil || !st.Granted {
			t.Errorf("after %s: %+v, %v", code, st, err)
		}
	}
	for _, code := range s.Faults.Lost {
		changeAll(t, db, s.Faults.Raise(code))
		_, err := d.Request(t.Context(), detached(t.Name()+code))
		if !errors.Is(err, driver.ErrUnsent) || errors.Is(err, driver.ErrRefused) {
			t.Errorf("after %s: %v, want an error that says that nothing was done, and leaves hope", code, err)
		}
		eventually(t, "it works again", func() bool {
			st, err := d.Request(t.Context(), detached(t.Name()+code))
			return err == nil && st.Granted
		})
	}
}

// detached returns a claim that is queued even if it has its lock to itself.
func detached(name string) driver.Claim {
	c := mutex(name)
	c.Detached = true
	return c
}

// A server that was demoted refuses to write, and is the primary again, or another one is, a moment later: an
// acquisition lasts that long, and a lease is not given up.
func testReadOnly(t *testing.T, s Store) {
	db := s.admin(t)
	d, err := drivertest.Open(t.Context(), s.Faults.User(t, db, s.URL(s.Addr)))
	if err != nil {
		t.Fatal(err)
	}
	client := holdfast.New(d, holdfast.WithTTL(longTTL))
	defer client.Close(context.Background())
	lease, err := client.Mutex(t.Name() + " held").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	allow := s.Faults.Refuse(t, db)
	_, err = d.Request(t.Context(), mutex(t.Name()))
	if err == nil || errors.Is(err, driver.ErrRefused) || !errors.Is(err, driver.ErrUnsent) {
		t.Errorf("a request that the server refuses to write: %v, "+
			"want an error that says that nothing was done, and leaves hope", err)
	}
	if err := d.Release(t.Context(), mutex(t.Name())); err == nil || errors.Is(err, driver.ErrRefused) {
		t.Errorf("a release: %v", err)
	}
	locked := make(chan error, 1)
	go func() {
		l, err := client.Mutex(t.Name()).Lock(t.Context())
		if err == nil {
			err = l.Release(context.Background())
		}
		locked <- err
	}()
	select {
	case err := <-locked:
		t.Errorf("Lock ended while nothing can be written: %v", err)
		locked <- err
	case <-time.After(time.Second):
	}
	allow()
	if err := <-locked; err != nil {
		t.Errorf("Lock: %v", err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Errorf("the lease that was held meanwhile: %v", err)
	}
}
