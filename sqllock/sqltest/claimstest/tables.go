package claimstest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/sqllock"
)

// A database without tables is refused, and the error says how to make them.
func testNoTables(t *testing.T, s Store) {
	s.refuses(t, "holdfast migrate")
}

// Tables of another format are refused, both when the database is opened and when it is migrated.
func testOtherFormat(t *testing.T, s Store) {
	d := s.client(t)
	change(t, s.admin(t), "UPDATE holdfast_store SET format = 1000")
	s.refuses(t, "same version")
	if err := sqllock.MigrateURL(t.Context(), s.URL(s.Addr)); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("MigrateURL: %v, want ErrRefused", err)
	}
	change(t, s.admin(t), "UPDATE holdfast_store SET format = 1")
	release(t, d, request(t, d, mutex(t.Name()), true))
}

// refuses fails unless a client is refused with this advice.
func (s Store) refuses(t *testing.T, advice string) {
	t.Helper()
	d, err := drivertest.Open(context.Background(), s.URL(s.Addr))
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), advice) {
		t.Errorf("Open: %v; want ErrRefused with %q in it", err, advice)
	}
	if err != nil && strings.Contains(err.Error(), driver.ErrUnsent.Error()) {
		t.Errorf("Open: %v; the refusal says enough", err)
	}
	if err == nil {
		d.Close()
	}
}

// Many programs that start together may all migrate, while others already use the tables.
func testMigrateTogether(t *testing.T, s Store) {
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for range 3 {
				s.migrated(t)
				d := s.client(t)
				c := mutex(t.Name())
				c.TTL = 10 * time.Second // it is forgotten soon, and not while a busy machine is slow
				st, err := d.Request(t.Context(), c)
				if err == nil && !st.Granted {
					st = await(t, d, c)
				}
				if err == nil {
					err = d.Release(t.Context(), c)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// Who may not use the tables is told so at once.
func testNoRights(t *testing.T, s Store) {
	db := s.admin(t)
	for _, statement := range s.Stranger {
		change(t, db, statement)
	}
	url := strings.Replace(s.URL(s.Addr), "root@", "stranger:secret@", 1)
	url = strings.Replace(url, "postgres@", "stranger:secret@", 1)
	d, err := drivertest.Open(t.Context(), url)
	if !errors.Is(err, driver.ErrRefused) || strings.Contains(err.Error(), "secret") {
		t.Errorf("Open: %v; want ErrRefused, without the password", err)
	}
	if err == nil {
		d.Close()
	}
}
