package holdfast_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// An examined driver has findings, and has leftovers.
type examined struct {
	driver.Driver
	ages []time.Duration // that Reap was called with
	err  error
}

func (d *examined) Check(context.Context, bool) ([]driver.Finding, error) {
	return []driver.Finding{{Level: driver.Unsafe, Fact: "it forgets"}}, d.err
}

func (d *examined) Reap(_ context.Context, age time.Duration) ([]driver.Leftover, error) {
	d.ages = append(d.ages, age)
	return []driver.Leftover{{Kind: "last token", Name: "m"}}, d.err
}

func TestClientCheck(t *testing.T) {
	d := &examined{Driver: memlock.New()}
	c := newClient(t, d)
	findings, err := c.Check(t.Context())
	if err != nil || len(findings) != 1 || findings[0].Level != driver.Unsafe {
		t.Errorf("%+v, %v", findings, err)
	}
	d.err = driver.ErrRefused
	findings, err = c.Check(t.Context())
	wantErr(t, err, driver.ErrRefused)
	if len(findings) != 1 || !strings.Contains(err.Error(), "mem") {
		t.Errorf("what was found before the error: %+v; it names no backend: %v", findings, err)
	}
	_, err = newClient(t, memlock.New()).Check(t.Context())
	wantErr(t, err, errors.ErrUnsupported)
}

func TestClientReap(t *testing.T) {
	d := &examined{Driver: memlock.New()}
	c := newClient(t, d)
	for range 2 {
		removed, err := c.Reap(t.Context())
		if !errors.Is(err, d.err) || len(removed) != 1 || removed[0].Name != "m" {
			t.Errorf("%+v, %v", removed, err)
		}
		d.err = driver.ErrRefused
	}
	must(c.ReapOlderThan(t.Context(), time.Minute))
	_, err := c.ReapOlderThan(t.Context(), time.Minute-1)
	if err == nil || !strings.Contains(err.Error(), "1m0s or more") {
		t.Errorf("what may belong to a request under way: %v", err)
	}
	if !slices.Equal(d.ages, []time.Duration{24 * time.Hour, 24 * time.Hour, time.Minute}) {
		t.Errorf("reaped by age: %v", d.ages)
	}
	if removed, err := newClient(t, memlock.New()).Reap(t.Context()); err != nil || len(removed) != 0 {
		t.Errorf("where nothing is left behind: %v, %v", removed, err)
	}
}

// Who watches sees the queue, what becomes of it, and no more once the loop is left.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := watch(memlock.New())
		c := newClient(t, d)
		var leases []*holdfast.Lease
		began := time.Now()
		var seen []int
		for queue, err := range c.Watch(t.Context(), "s") {
			if err != nil {
				t.Fatal(err)
			}
			if len(seen) == 0 || seen[len(seen)-1] != len(queue) {
				seen = append(seen, len(queue))
			}
			switch {
			case len(seen) <= 3:
				leases = append(leases, must(c.Semaphore("s", 5).Acquire(t.Context(), 1))(t))
				if last := len(queue) - 1; last >= 0 &&
					(!queue[last].Granted || queue[last].Token != leases[last].Token()) {
					t.Errorf("the last is %+v", queue[last])
				}
			case len(seen) == 4 && len(leases) > 0:
				leases[0].Release(t.Context())
				leases = nil
			}
			if len(seen) == 5 {
				break
			}
		}
		// At worst each change was made before the driver watched.
		if !slices.Equal(seen, []int{0, 1, 2, 3, 2}) || time.Since(began) > 2*ttl {
			t.Errorf("so many were seen: %v, in %v", seen, time.Since(began))
		}
		asked := d.asked.Load()
		time.Sleep(2 * driver.WatchTime)
		if n := d.asked.Load() - asked; n != 0 {
			t.Errorf("it has asked to watch %d times after the loop was left", n)
		}
	})
}

// What can never succeed is said once.
func TestWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cable, a, _ := twoClients(t)
		closed := newClient(t, memlock.New())
		closed.Close(t.Context())
		cable.set(faults{refuse: errors.ErrUnsupported})
		for _, row := range []struct {
			client *holdfast.Client
			name   string
			want   error
		}{{a, "", holdfast.ErrInvalidName}, {a, "m", errors.ErrUnsupported}, {closed, "m", holdfast.ErrClosed}} {
			var errs []error
			for queue, err := range row.client.Watch(t.Context(), row.name) {
				if errs = append(errs, err); queue != nil || len(errs) > 9 {
					break
				}
			}
			if len(errs) != 1 || !errors.Is(errs[0], row.want) {
				t.Errorf("%d errors, %v; want one, %v", len(errs), errs, row.want)
			}
		}
	})
}

// Nothing is asked through a client that is closed.
func TestLookingThroughAClosedClient(t *testing.T) {
	c := newClient(t, memlock.New())
	c.Close(t.Context())
	names := func() error {
		for _, err := range c.Names(t.Context(), "") {
			return err
		}
		return nil
	}
	_, check := c.Check(t.Context())
	_, reap := c.Reap(t.Context())
	_, queue := c.Queue(t.Context(), "m")
	for what, err := range map[string]error{
		"Check": check, "Reap": reap, "Queue": queue, "Names": names(),
		"Break": c.Break(t.Context(), "m", "id"), "Revoke": c.Revoke(t.Context(), "m"),
	} {
		if !errors.Is(err, holdfast.ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
