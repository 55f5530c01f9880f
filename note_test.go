package holdfast_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// Everybody can read who has asked for a lock and who has broken it, and the holder which of that was about its lease.
func TestNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		a := newClient(t, store)
		b := newClient(t, store.Client(), holdfast.WithOwner("bob\x1b"))
		c := newClient(t, store.Client(), holdfast.WithOwner("cem"))
		other := must(a.Mutex("other").Lock(t.Context()))(t)
		lease := must(a.Mutex("m").Lock(t.Context()))(t)
		id := queued(t, a, "m")[0].ID
		for _, asking := range []*holdfast.Client{b, c} {
			if err := asking.Revoke(t.Context(), "m"); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if err := c.Break(t.Context(), "m", id); err != nil {
			t.Fatal(err)
		}
		next := must(b.Mutex("m").Lock(t.Context()))(t)
		want := []string{"revoke bob\x1b", "break cem"}
		checkNotes(t, "of the lock", must(b.Notes(t.Context(), "m"))(t), id, want)
		checkNotes(t, "of the lease", must(lease.Notes(t.Context()))(t), id, want)
		checkNotes(t, "of the next lease", must(next.Notes(t.Context()))(t), "", nil)
		checkNotes(t, "of another lock", must(other.Notes(t.Context()))(t), "", nil)

		var names []string
		for name, err := range a.Names(t.Context(), "") {
			names = append(names, must(name, err)(t))
		}
		if len(names) != 2 {
			t.Errorf("locks %q, want m and other", names)
		}
		time.Sleep(driver.NoteAge)
		checkNotes(t, "after an hour", must(a.Notes(t.Context(), "m"))(t), "", nil)
	})
}

// checkNotes fails unless there are these notes about a claim, as "KIND LABEL".
func checkNotes(t *testing.T, which string, notes []holdfast.Note, id string, want []string) {
	t.Helper()
	var got []string
	for _, n := range notes {
		_, label, _ := strings.Cut(n.By, " ")
		got = append(got, n.Kind+" "+label)
		if n.Claim != id || time.Since(n.At) < 0 || time.Since(n.At) > time.Minute {
			t.Errorf("%s: %+v, want one about %s a moment ago", which, n, id)
		}
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("notes %s: %q, want %q", which, got, want)
	}
}

// Nobody is said to have done what was not done, because the claim had ended, waits, or cannot be broken.
func TestNoNoteOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line, a, b, lease := firstHolds(t)
		id := queued(t, a, "m")[0].ID
		lease.Release(t.Context())
		wantErr(t, b.Break(t.Context(), "m", id), driver.ErrGone)
		b.Revoke(t.Context(), "m")
		checkNotes(t, "of what was over", must(b.Notes(t.Context(), "m"))(t), "", nil)

		must(b.Mutex("m").Lock(t.Context()))(t)
		line.set(faults{refuse: driver.ErrRefused})
		wantErr(t, a.Break(t.Context(), "m", queued(t, b, "m")[0].ID), driver.ErrRefused)
		checkNotes(t, "of what was refused", must(b.Notes(t.Context(), "m"))(t), "", nil)
	})
}

// unnoted returns a driver whose locks about notes cannot be read: that fails, or hangs if err is nil.
func unnoted(d driver.Driver, err error) driver.Driver {
	return batch.Intercept(d, func(ctx context.Context, op driver.Op, next next) driver.Result {
		switch {
		case op.Kind != driver.OpQueue || !driver.HoldsNotes(op.Claim.Name):
			return next(op)
		case err == nil:
			<-ctx.Done()
			return driver.Result{Err: ctx.Err()}
		default:
			return driver.Result{Err: err}
		}
	})
}

// What is urgent is done also where no note can be left, soon, and the logger is told.
func TestWithoutNotes(t *testing.T) {
	for name, failure := range map[string]error{"hang": nil, "fail": driver.ErrRefused} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := unnoted(memlock.New(), failure)
				var log strings.Builder
				c := newClient(t, d, holdfast.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				lease := must(c.Mutex("m").Lock(t.Context()))(t)
				revoked, start := lease.Revoked(), time.Now()
				if err := c.Revoke(t.Context(), "m"); err != nil {
					t.Fatal(err)
				}
				<-revoked
				if err := c.Break(t.Context(), "m", queued(t, c, "m")[0].ID); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("that took %v", took)
				}
				synctest.Wait()
				if n := strings.Count(log.String(), "no note of who did this"); n != 2 {
					t.Errorf("said %d times, want twice: %s", n, log.String())
				}
			})
		})
	}
}

// A request to very many holders leaves no more notes than a lock keeps, and where notes hang they hold it up once.
func TestNotesOfManyHolders(t *testing.T) {
	const readers = 3 * driver.MostNotes
	for name, hangs := range map[string]bool{"answered": false, "hang": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memlock.New()
				requests := make([]driver.Op, readers)
				for i := range requests {
					requests[i] = driver.Op{Kind: driver.OpRequest, Claim: driver.Claim{
						Name: "m", ID: driver.NewID(), Weight: 1, Limit: driver.All, TTL: time.Hour,
					}}
					doOne(t.Context(), store, requests[i])
				}
				d := &counting{hangs: hangs}
				start := time.Now()
				if err := newClient(t, batch.Intercept(store, d.pass)).Revoke(t.Context(), "m"); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took > 5*time.Second || d.asked > 2*driver.MostNotes {
					t.Errorf("that took %v, and %d requests for notes", took, d.asked)
				}
				for _, request := range requests {
					if !doOne(t.Context(), store, request).Status.Revoked {
						t.Fatal("not all holders were asked")
					}
				}
			})
		})
	}
}

// counting counts operations on notes, and may leave those unanswered.
type counting struct {
	hangs bool
	asked int
}

func (d *counting) pass(ctx context.Context, op driver.Op, next next) driver.Result {
	if !driver.HoldsNotes(op.Claim.Name) {
		return next(op)
	}
	d.asked++
	if d.hangs {
		<-ctx.Done()
	}
	if err := ctx.Err(); err != nil {
		return driver.Result{Err: err}
	}
	return next(op)
}

// Who has little time has enough for what is urgent, where notes hang.
func TestNotesTakeHalfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, batch.Intercept(memlock.New(), (&counting{hangs: true}).pass))
		lease := must(c.Mutex("m").Lock(t.Context()))(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Break(ctx, "m", queued(t, c, "m")[0].ID); err != nil {
			t.Error(err)
		}
		wantErr(t, lease.Release(t.Context()), holdfast.ErrLost)
	})
}

// Where a backend keeps no notes, that is said to who asks for them, and no more.
func TestNotesAreUnsupported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		unshared := withTraits{memlock.New(), func(t *driver.Traits) { t.Weighted = false }}
		c := newClient(t, unshared, holdfast.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		must(c.Mutex("m").Lock(t.Context()))(t)
		if err := c.Break(t.Context(), "m", queued(t, c, "m")[0].ID); err != nil {
			t.Fatal(err)
		}
		_, err := c.Notes(t.Context(), "m")
		wantErr(t, err, errors.ErrUnsupported)
		_, err = c.Notes(t.Context(), "")
		wantErr(t, err, holdfast.ErrInvalidName)
		synctest.Wait()
		if strings.Contains(log.String(), "note") {
			t.Errorf("logged: %s", log.String())
		}
	})
}

// Who waits, and whose claim is broken, is told by whom.
func TestBrokenBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.New()
		a, b := newClient(t, store), newClient(t, store.Client(), holdfast.WithOwner("bob\n"))
		must(b.Mutex("m").Lock(t.Context()))(t)
		broken := make(chan error, 1)
		go func() { broken <- second(a.Mutex("m").Lock(t.Context())) }()
		synctest.Wait()
		if err := b.Break(t.Context(), "m", queued(t, b, "m")[1].ID); err != nil {
			t.Fatal(err)
		}
		err := <-broken
		wantErr(t, err, holdfast.ErrBroken, holdfast.ErrNotAcquired)
		by, ok := errors.AsType[*holdfast.BrokenError](err)
		if !ok || !strings.HasSuffix(by.By, " bob") || !strings.Contains(err.Error(), `by "`) {
			t.Errorf("%v", err)
		}
	})
}
