package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// A slowStore answers questions for queues as each is let, and says how many wait for that.
type slowStore struct {
	asked atomic.Int64
	let   chan error // what to answer in the place of the queue, or nil
}

func (s *slowStore) pass(ctx context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
	if op.Kind != driver.OpQueue {
		return next(op)
	}
	s.asked.Add(1)
	defer s.asked.Add(-1)
	select {
	case err := <-s.let:
		if err != nil {
			return driver.Result{Err: err}
		}
		return next(op)
	case <-ctx.Done():
		return driver.Result{Err: context.Cause(ctx)}
	}
}

// slow is a store with so many locks that are held, whose names are returned in their order.
func slow(t *testing.T, locks int) (st *store, d *slowStore, names []string) {
	t.Helper()
	d = &slowStore{let: make(chan error)}
	locked := memlock.New()
	passed := batch.Intercept(locked, d.pass)
	t.Cleanup(func() { passed.Close() })
	for i := range locks {
		name := fmt.Sprintf("job %03d", i)
		c := driver.Claim{Name: name, ID: fmt.Sprint("c", i), Weight: 1, Limit: 1, TTL: time.Hour}
		locked.Do(t.Context(), []driver.Op{{Kind: driver.OpRequest, Claim: c}}, func(_ int, r driver.Result) {
			if r.Err != nil || !r.Status.Granted {
				t.Fatalf("%q: %+v, %v", name, r.Status, r.Err)
			}
		})
		names = append(names, name)
	}
	return &store{Client: holdfast.New(passed), driver: passed}, d, names
}

// The queues of some locks are asked for at once, of no more however many there are, and shown in the order of names. A
// lock that cannot be read is shown between the others.
func TestListAsksForSomeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const locks = 100
		s, d, names := slow(t, locks)
		type list struct {
			views []view
			err   error
		}
		done := make(chan list, 1)
		go func() {
			views, err := s.views(t.Context(), "job ")
			done <- list{views, err}
		}()

		bad := errors.New("bad record")
		for left := locks; left > 0; left-- {
			synctest.Wait()
			if asked, want := d.asked.Load(), int64(min(left, listAtOnce)); asked != want {
				t.Fatalf("with %d locks to go %d are asked for at once, want %d", left, asked, want)
			}
			if left == locks/2 {
				d.let <- bad
			} else {
				d.let <- nil
			}
		}
		got := <-done
		if got.err != nil {
			t.Fatal(got.err)
		}
		var listed, unreadable []string
		for _, v := range got.views {
			listed = append(listed, v.Name)
			switch {
			case v.Error != "":
				unreadable = append(unreadable, v.Name)
			case len(v.Holders) != 1 || len(v.Waiters) != 0:
				t.Errorf("%q has the holders %v and the waiters %v, want one holder", v.Name, v.Holders, v.Waiters)
			}
		}
		if !slices.Equal(listed, names) || len(unreadable) != 1 {
			t.Errorf("listed %q, of which unreadable %q; want %q, and one of them", listed, unreadable, names)
		}
	})
}

// What concerns all locks ends the list at once, whatever else is under way, and so does its caller.
func TestListEndsAtOnce(t *testing.T) {
	stop := errors.New("no list is wanted any more")
	for name, row := range map[string]struct {
		end  func(*slowStore, context.CancelCauseFunc)
		want error
	}{
		"of the network": {func(d *slowStore, _ context.CancelCauseFunc) { d.let <- io.EOF }, io.EOF},
		"of the caller":  {func(_ *slowStore, cancel context.CancelCauseFunc) { cancel(stop) }, stop},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, d, _ := slow(t, 100)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				done := make(chan error, 1)
				go func() {
					_, err := s.views(ctx, "job ")
					done <- err
				}()
				synctest.Wait()
				row.end(d, cancel)
				synctest.Wait()
				select {
				case err := <-done:
					if !errors.Is(err, row.want) {
						t.Errorf("the list ended with %v, want %v", err, row.want)
					}
				default:
					t.Fatal("the list goes on")
				}
			})
		})
	}
}
