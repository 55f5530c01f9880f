package claimstest

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// findFree lets a client take a lock that is free so often that it takes locks by statements from then on, until it
// finds one that is not.
func findFree(t *testing.T, d *drivertest.Facade) {
	t.Helper()
	c := mutex(driver.NewID())
	c.ID = driver.NewID()
	for range 10 {
		release(t, d, request(t, d, c, true))
		c.ID = driver.NextID(c.ID)
	}
}

// A client that takes locks by statements finds those that others have, or wait for, and releases none but its own.
func testAlone(t *testing.T, s Store) {
	d, other := s.client(t), s.client(t)
	refused := func(name, why string) {
		t.Helper()
		findFree(t, d)
		c := mutex(name)
		c.Queue = false
		if st, err := d.Request(t.Context(), c); err != nil || st.Granted {
			t.Errorf("a lock that %s: %+v, %v", why, st, err)
		}
	}
	held := mutex(t.Name() + " held")
	for range 2 { // the row is there
		held.ID, held.Token = driver.NewID(), 0
		held = request(t, other, held, true)
		refused(held.Name, "another client has")
		release(t, other, held)
	}
	inLine := queued(t, other, mutex(t.Name()+" queued"))
	change(t, s.admin(t), "UPDATE holdfast_locks SET barred = 0") // that is not what keeps anybody from the lock
	refused(inLine.Name, "is queued for")
	release(t, other, inLine)

	c := brief(t.Name() + " expired")
	release(t, d, request(t, d, c, true))
	c.ID = driver.NextID(c.ID)
	findFree(t, d)
	c = request(t, d, c, true)
	driver.Sleep(t.Context(), 2*c.TTL)
	if err := d.Release(t.Context(), c); !errors.Is(err, driver.ErrGone) {
		t.Errorf("Release of a claim that has expired: %v", err)
	}

	c = mutex(t.Name() + " token")
	c.ID = driver.NewID()
	release(t, d, request(t, d, c, true))
	c.ID = driver.NextID(c.ID)
	findFree(t, d)
	c = request(t, d, c, true)
	strange := c
	strange.Token++
	if err := d.Release(t.Context(), strange); !errors.Is(err, driver.ErrGone) {
		t.Errorf("Release under another token: %v", err)
	}
	findFree(t, d)
	for range 2 {
		if err := d.Release(t.Context(), c); err != nil {
			t.Errorf("Release, which may be the second: %v", err)
		}
	}
}

// A late copy of the request of a claim that was released is barred for the claim's TTL, though others have had the
// lock since, for shorter TTLs, alone or in a queue, and whether a statement or a routine takes the lock.
func testLateCopies(t *testing.T, s Store) {
	d, other := s.client(t), s.client(t)
	asItIs := func(*testing.T, *drivertest.Facade) {}
	for _, since := range []struct {
		name string
		with func(first driver.Claim)
	}{
		{"nobody", func(driver.Claim) {}},
		{"one alone", func(c driver.Claim) { comeAndGo(t, other, asItIs, brief(c.Name)) }},
		{"one alone who leaves by a statement", func(c driver.Claim) { comeAndGo(t, other, findFree, brief(c.Name)) }},
		{"a queue", func(c driver.Claim) { comeAndGo(t, other, asItIs, brief(c.Name), brief(c.Name)) }},
		{"its own client", func(c driver.Claim) { comeAndGo(t, d, asItIs, brief(c.Name)) }},
		{"its own client, which leaves by a statement", func(c driver.Claim) {
			next := brief(c.Name)
			next.ID = driver.NextID(c.ID)
			comeAndGo(t, d, findFree, next)
		}},
	} {
		first := mutex(t.Name() + " " + since.name)
		first.ID = driver.NewID()
		first = request(t, d, first, true)
		release(t, d, first)
		since.with(first)
		since.with(first)
		driver.Sleep(t.Context(), 4*brief("").TTL) // until what they did is not remembered any more
		err := d.Release(t.Context(), first)       // again
		if err != nil && !errors.Is(err, driver.ErrGone) {
			t.Fatal(err)
		}
		late := first
		late.Token = 0
		for _, how := range []struct {
			name   string
			before func(*testing.T, *drivertest.Facade)
			claims []driver.Claim
		}{
			{"alone", asItIs, []driver.Claim{late}},
			{"by a statement", findFree, []driver.Claim{late}},
			{"together", asItIs, []driver.Claim{late, mutex(t.Name() + " other")}},
		} {
			how.before(t, d)
			r := Unfollow(d).do(t.Context(), ops(driver.OpRequest, how.claims)...)[0]
			if !errors.Is(r.Err, driver.ErrGone) {
				t.Errorf("after use by %s, a late copy that is requested %s gets %+v", since.name, how.name, r)
			}
		}
	}
}

// comeAndGo requests claims of one lock, one after the other, and then releases them. It does something before each
// request, and before each release. The claims may expire meanwhile.
func comeAndGo(
	t *testing.T, d *drivertest.Facade, before func(*testing.T, *drivertest.Facade), claims ...driver.Claim,
) {
	t.Helper()
	for i := range claims {
		before(t, d)
		st, err := d.Request(t.Context(), claims[i])
		if err != nil && !errors.Is(err, driver.ErrGone) {
			t.Fatal(err)
		}
		claims[i].Token = st.Token
	}
	for _, c := range claims {
		before(t, d)
		if err := d.Release(t.Context(), c); err != nil && !errors.Is(err, driver.ErrGone) {
			t.Fatal(err)
		}
	}
}

// brief returns a mutex whose TTL is as short as it may be.
func brief(name string) driver.Claim {
	c := mutex(name)
	c.ID, c.TTL = driver.NewID(), 100*time.Millisecond
	return c
}
