package claimstest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// A client whose clock is years behind takes and keeps a lock like any other, gives the next its token in order, and
// finds a claim expired when the others do: only the server's clock counts.
func testClientClock(t *testing.T, s Store) {
	defer bubble.Alone()()
	right := s.client(t)
	first := request(t, right, mutex(t.Name()), true)
	release(t, right, first)
	var held driver.Claim
	synctest.Test(t, func(t *testing.T) {
		if ahead := first.Token - uint64(time.Now().UnixMicro()); ahead < uint64(time.Hour.Microseconds()) {
			t.Fatalf("this clock says %v", time.Now())
		}
		wrong, err := drivertest.Open(context.Background(), s.URL(s.Addr))
		if err != nil {
			t.Fatal(err)
		}
		held = request(t, wrong, mutex(t.Name()), true)
		held = request(t, wrong, held, true)
		if err := wrong.Close(); err != nil {
			t.Error(err)
		}
	})
	if held.Token <= first.Token {
		t.Errorf("token %d after %d", held.Token, first.Token)
	}
	next := request(t, right, mutex(t.Name()), false)
	release(t, right, held)
	if st := await(t, right, next); st.Token <= held.Token {
		t.Errorf("token %d after %d", st.Token, held.Token)
	}
}

// setBack are locks of which holders or waiters have died, and then the server's clock was set back by an hour, so that
// deadlines are an hour and a TTL ahead. Whoever wants the lock has it when the TTLs of the dead have passed once more.
var setBack = []struct {
	name          string
	limit         int64 // of the dead, which want a unit each
	holds, wait   int   // how many died
	waits, living bool  // somebody wanted the lock before; the holder lives, and leaves
	stays         bool  // there are three permits, of which a holder who lives has two, and the dead want two
}{
	{name: "a holder", limit: 1, holds: 1},
	{name: "a holder for whom somebody waited", limit: 1, holds: 1, waits: true},
	{name: "readers", limit: driver.All, holds: 3},
	{name: "a holder and who was ahead of somebody", limit: 1, holds: 1, wait: 1, waits: true},
	{name: "waiters behind a holder who lives", limit: 1, wait: deadInLine, living: true},
	{name: "waiters ahead of somebody", limit: 1, wait: deadInLine, living: true, waits: true},
	{name: "who wants more than a holder leaves", limit: 3, wait: 1, living: true, waits: true, stays: true},
}

// deadInLine are so many that their TTLs, one after the other, would take longer than anybody waits.
const deadInLine = 2 * int(patience/time.Second)

// A deadline that is further ahead than a TTL is brought back when somebody asks for the lock, or waits for it.
func testClockSetBack(t *testing.T, s Store) {
	d, db := s.client(t), s.admin(t)
	for _, one := range setBack {
		dead := mutex(t.Name() + " " + one.name)
		dead.TTL, dead.Limit = time.Second, one.limit // see deadInLine
		holder := mutex(dead.Name)
		if one.stays {
			dead.Weight, holder.Weight, holder.Limit = 2, 2, one.limit
		}
		if one.living {
			holder = request(t, d, holder, true)
		}
		for i := range one.holds + one.wait {
			dead.ID = fmt.Sprint("dead", i)
			request(t, d, dead, i < one.holds)
		}
		began := time.Now()
		var passed sync.WaitGroup
		pass := func() { passed.Go(func() { passThrough(t, d, dead.Name, one.stays) }) }
		if one.waits {
			pass()
			const waiting = "SELECT COUNT(*) FROM holdfast_claims" +
				" WHERE name = '%s' AND id NOT LIKE 'dead%%' AND NOT granted"
			eventually(t, "somebody waits", func() bool { return number(t, db, fmt.Sprintf(waiting, dead.Name)) > 0 })
		}
		const ahead = "UPDATE holdfast_claims SET deadline = deadline + 3600000000" +
			" WHERE name = '%s' AND id LIKE 'dead%%'"
		if _, err := db.Exec(fmt.Sprintf(ahead, dead.Name)); err != nil {
			t.Fatal(err)
		}
		if one.living && !one.stays {
			release(t, d, holder)
		}
		if !one.waits {
			pass()
		}
		if passed.Wait(); t.Failed() {
			return // the others would wait as long
		}
		t.Logf("%s: after %v", one.name, time.Since(began).Round(time.Millisecond))
	}
}

// passThrough waits for a lock, or for one of three permits, as programs do, and releases it.
func passThrough(t *testing.T, d *drivertest.Facade, name string, permit bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client := holdfast.New(d, holdfast.WithTTL(3*time.Second))
	var lock holdfast.Locker = client.Mutex(name)
	if permit {
		lock = client.Semaphore(name, 3).Permits(1)
	}
	lease, err := lock.Lock(ctx)
	if err == nil {
		err = lease.Release(ctx)
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// Who waits behind the dead is answered while the lock is held, also if one that is ahead of a deadline that is too far
// ahead has expired since the clock was set back. Nobody is told to ask again, and again, until that is swept.
func testClockSetBackBehindExpired(t *testing.T, s Store) {
	const most = 200 // statements, with those of sweeping meanwhile
	p := proxy.New(t, s.Addr)
	d, db := s.clientAt(t, p.Addr), s.admin(t)
	held := request(t, d, mutex(t.Name()), true)
	const move = "UPDATE holdfast_claims SET deadline = deadline + %d WHERE name = '%s' AND id = '%s'"
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		dead := request(t, d, mutex(held.Name), false)
		if _, err := db.Exec(fmt.Sprintf(move, by.Microseconds(), dead.Name, dead.ID)); err != nil {
			t.Fatal(err)
		}
	}
	next := mutex(held.Name)
	for _, what := range []string{"queued", "renewed"} {
		p.Count(statements)
		st, err := d.Request(t.Context(), next)
		if asked := p.Counted(); err != nil || st.Granted || asked > most {
			t.Errorf("%s: %+v, %v, after %d statements, want at most %d", what, st, err, asked, most)
		}
		next.Token = st.Token
	}
	release(t, d, next)
	release(t, d, held)
}

// Who holds a lock and renews it keeps it, however far back the clock was set.
func testKeptWhenTheClockIsSetBack(t *testing.T, s Store) {
	d, db := s.client(t), s.admin(t)
	held := request(t, d, mutex(t.Name()), true)
	const ahead = "UPDATE holdfast_claims SET deadline = deadline + 3600000000 WHERE name = '%s'"
	if _, err := db.Exec(fmt.Sprintf(ahead, held.Name)); err != nil {
		t.Fatal(err)
	}
	next := request(t, d, mutex(held.Name), false)
	const since = "SELECT deadline - ttl FROM holdfast_claims WHERE name = '%s' AND id = '%s'"
	renewed := time.UnixMicro(number(t, db, fmt.Sprintf(since, held.Name, held.ID)))
	if ahead := time.Until(renewed); ahead > time.Minute {
		t.Errorf("its deadline is still %v further ahead than its TTL", ahead)
	}
	request(t, d, held, true)
	release(t, d, held)
	release(t, d, request(t, d, next, true))
}

// A caller's transaction and time zone have nothing to do with the driver's.
func testOwnConnection(t *testing.T, s Store) {
	db := s.admin(t)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var one int
	if err := tx.QueryRow("SELECT 1").Scan(&one); err != nil { // its clock stands still from here on
		t.Fatal(err)
	}
	d := s.open(t, db)
	c := mutex(t.Name())
	c.TTL = 500 * time.Millisecond
	request(t, d, c, true)
	next := mutex(t.Name())
	if st, err := d.Request(t.Context(), next); err != nil {
		t.Fatal(err)
	} else if !st.Granted { // as it is only where that took longer than the TTL
		await(t, d, next)
	}
	if err := tx.Rollback(); err != nil {
		t.Errorf("the caller's transaction was ended: %v", err)
	}
}
