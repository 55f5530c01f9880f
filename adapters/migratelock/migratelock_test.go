package migratelock_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/stub"
	"github.com/golang-migrate/migrate/v4/source/iofs"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/migratelock"
	"github.com/holdfast-go/holdfast/memlock"
)

func newClient(t testing.TB, store *memlock.Driver) *holdfast.Client {
	c := holdfast.New(store.Client())
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func newDatabase(t *testing.T) database.Driver {
	d, err := (&stub.Stub{}).Open("stub://")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOneMigratesAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, db := memlock.New(), newDatabase(t)
		a, b := migratelock.Wrap(db, newClient(t, store), "shop"), migratelock.Wrap(db, newClient(t, store), "shop")
		if err := a.Lock(); err != nil {
			t.Fatal(err)
		}
		if err := a.Lock(); !errors.Is(err, database.ErrLocked) {
			t.Errorf("locked again: %v", err)
		}
		before := time.Now()
		if err := b.Lock(); !errors.Is(err, database.ErrLocked) || time.Since(before) > migratelock.Timeout {
			t.Errorf("the other waited for %v and got %v", time.Since(before), err)
		}
		if err := a.Run(strings.NewReader("CREATE")); err != nil {
			t.Error(err)
		}
		if err := a.Unlock(); err != nil {
			t.Error(err)
		}
		if err := errors.Join(b.Lock(), b.SetVersion(1, false), b.Unlock()); err != nil {
			t.Error(err)
		}
		if err := b.Unlock(); !errors.Is(err, database.ErrNotLocked) {
			t.Errorf("what was not locked was unlocked: %v", err)
		}
	})
}

// Nothing is written once the lock is lost.
func TestLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(t)
		d := migratelock.Wrap(db, newClient(t, memlock.New()), "shop", holdfast.WithMaxHold(time.Minute))
		if err := d.Lock(); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.SetVersion(1, true), d.Run(strings.NewReader("first"))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		for what, err := range map[string]error{
			"Run": d.Run(strings.NewReader("second")), "SetVersion": d.SetVersion(1,
				false), "Drop": d.Drop(),
		} {
			if !errors.Is(err, holdfast.ErrLost) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if ran := string(db.(*stub.Stub).LastRunMigration); ran != "first" {
			t.Errorf("%q ran under a lost lock", ran)
		}
		if version, dirty, err := d.Version(); version != 1 || !dirty || err != nil {
			t.Errorf("the version is %d, dirty %v, %v", version, dirty, err)
		}
	})
}

// Of two who share a driver, only one locks it: what one of them writes when its lock is lost would count as the
// other's.
func TestOneLocksADriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, memlock.New())
		d := migratelock.Wrap(newDatabase(t), client, "shop")
		first, err := client.Mutex("shop").Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		locked := make(chan error, 2)
		for range cap(locked) {
			go func() { locked <- d.Lock() }()
		}
		synctest.Wait()
		if err := first.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		queue, err := client.Queue(t.Context(), "shop")
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Break(t.Context(), "shop", queue[0].ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // and whoever waits has the lock, or has given up
		if err := d.Run(strings.NewReader("late")); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("who lost the lock wrote: %v", err)
		}
		if a, b := <-locked, <-locked; (a == nil) == (b == nil) || !errors.Is(errors.Join(a, b), database.ErrLocked) {
			t.Errorf("two locked it: %v, %v", a, b)
		}
	})
}

// A database that is closed leaves its lock to others: who held it has panicked, or given up waiting.
func TestClose(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, d *migratelock.Driver, release func()){
		"while it is locked": func(t *testing.T, d *migratelock.Driver, release func()) {
			release()
			if err := d.Lock(); err != nil {
				t.Error(err)
			}
		},
		"while somebody waits": func(t *testing.T, d *migratelock.Driver, release func()) {
			go d.Lock()
			synctest.Wait()
		},
		"as the lock is got": func(t *testing.T, d *migratelock.Driver, release func()) {
			go d.Lock()
			synctest.Wait()
			go release()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, memlock.New())
				d := migratelock.Wrap(newDatabase(t), client, "shop")
				first, err := client.Mutex("shop").Lock(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				release := func() { first.Release(context.Background()) }
				before(t, d, release)
				if err := d.Close(); err != nil {
					t.Error(err)
				}
				release()
				synctest.Wait()
				if queue, err := client.Queue(t.Context(), "shop"); len(queue) > 0 || err != nil {
					t.Errorf("the lock is taken: %v, %v", queue, err)
				}
				if err := d.Lock(); !errors.Is(err, database.ErrLocked) {
					t.Errorf("a closed one is locked: %v", err)
				}
			})
		})
	}
}

func TestOpen(t *testing.T) {
	d, err := migratelock.Wrap(&stub.Stub{}, newClient(t, memlock.New()), "shop").Open("stub://")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Lock(), d.Unlock(), d.Close()); err != nil {
		t.Error(err)
	}
}

// A loss is told once: by the write that fails for it, or else by Unlock. golang-migrate is stuck once Unlock fails.
func TestLossIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, writes := range []bool{true, false} {
			client := newClient(t, memlock.New())
			d := migratelock.Wrap(newDatabase(t), client, "shop", holdfast.WithMaxHold(time.Minute))
			if err := d.Lock(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if writes {
				if err := d.SetVersion(1, false); !errors.Is(err, holdfast.ErrLost) {
					t.Fatalf("a write under a lost lock: %v", err)
				}
			}
			if err := d.Unlock(); errors.Is(err, holdfast.ErrLost) == writes || writes && err != nil {
				t.Errorf("Unlock, after a write that failed (%v): %v", writes, err)
			}
			if err := errors.Join(d.Lock(), d.SetVersion(1, false), d.Unlock()); err != nil {
				t.Errorf("the next time: %v", err)
			}
		}
	})
}

// A Migrate whose lock was lost can be used again.
func TestMigrateAfterLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, memlock.New())
		db := &robbed{Driver: newDatabase(t), client: client}
		files, err := iofs.New(fstest.MapFS{"1_a.up.sql": {Data: []byte("CREATE")}}, ".")
		if err != nil {
			t.Fatal(err)
		}
		m, err := migrate.NewWithInstance("iofs", files, "stub", migratelock.Wrap(db, client, "shop"))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Up(); !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("Up under a lock that was lost: %v", err)
		}
		if err := m.Force(1); err != nil {
			t.Errorf("Force after that: %v", err)
		}
	})
}

// A database during whose first migration the lock is taken away.
type robbed struct {
	database.Driver
	client *holdfast.Client
	once   sync.Once
}

func (r *robbed) Run(migration io.Reader) (err error) {
	r.once.Do(func() {
		var queue []holdfast.Entry
		if queue, err = r.client.Queue(context.Background(), "shop"); err == nil {
			err = r.client.Break(context.Background(), "shop", queue[0].ID)
		}
		time.Sleep(time.Minute)
	})
	return errors.Join(err, r.Driver.Run(migration))
}
