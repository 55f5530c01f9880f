package claimstest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// Crowds that died on a lock, and what a claim that comes then wants.
var crowdsOfDead = []struct {
	name           string
	granted        bool
	weight, limit  int64 // of each of the dead
	beside, wanted int64 // units that somebody holds, and those that are asked for
}{
	{name: "in line", weight: 1, limit: 1, wanted: 1},
	{name: "readers", granted: true, weight: 1, limit: driver.All, wanted: driver.All},
	{name: "in line behind a holder who leaves room", weight: 2, limit: 2, beside: 1, wanted: 1},
}

// A crowd that died is not worked off by whoever comes next in one statement, for which time nobody else could use the
// lock, and yet it keeps nobody out: neither who only tries nor who waits.
func testCrowdOfDead(t *testing.T, s Store) {
	const most = 300 // that a statement takes out
	crowd := effort.Pick(2_500, 20_000)
	db := s.admin(t)
	p := proxy.New(t, s.Addr)
	d := s.clientAt(t, p.Addr)
	release(t, d, request(t, d, mutex(t.Name()), true)) // the statements are prepared
	for _, one := range crowdsOfDead {
		for _, queue := range []bool{false, true} {
			c := mutex(fmt.Sprint(t.Name(), " ", one.name, queue))
			c.Queue, c.Weight, c.Limit = queue, one.wanted, one.limit
			if one.beside > 0 {
				holder := c
				holder.ID, holder.Weight = "holder", one.beside
				defer release(t, d, queued(t, d, holder))
			}
			dead := c
			dead.Weight = one.weight
			plant(t, s, dead, one.granted, crowd)
			p.Count(statements)
			began := time.Now()
			c = request(t, d, c, true)
			took, asked := time.Since(began), p.Counted()
			left := number(t, db, fmt.Sprintf("SELECT COUNT(*) FROM holdfast_claims"+
				" WHERE name = '%s' AND id LIKE 'dead%%'", c.Name))
			if left > 0 || int(asked) < crowd/most {
				t.Errorf("%s: %d statements have taken out %d dead claims, want %d at most with each",
					one.name, asked, int64(crowd)-left, most)
			}
			t.Logf("%s: %v, in %d statements", one.name, took, asked)
			release(t, d, c)
		}
	}
}

// plant makes n claims like c that have expired, behind the driver's back.
func plant(t *testing.T, s Store, c driver.Claim, granted bool, n int) {
	t.Helper()
	db := s.admin(t)
	now := time.Now().UnixMicro()
	first := now - time.Hour.Microseconds()
	if number(t, db, fmt.Sprintf("SELECT COUNT(*) FROM holdfast_locks WHERE name = '%s'", c.Name)) == 0 {
		const insert = "INSERT INTO holdfast_locks (name, token, released, queued) VALUES ('%s', %d, 0, TRUE)"
		change(t, db, fmt.Sprintf(insert, c.Name, now))
	} else {
		first = now // behind the holder
		change(t, db, fmt.Sprintf("UPDATE holdfast_locks SET token = %d WHERE name = '%s'", now+int64(n), c.Name))
	}
	change(t, db, fmt.Sprintf("INSERT INTO holdfast_claims"+
		" (name, id, token, weight, units, ttl, deadline, since, granted, revoked, owner, value)"+
		" WITH RECURSIVE d AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM d WHERE i < 199)"+
		" SELECT '%s', CONCAT('dead', a.i * 200 + b.i), %d + a.i * 200 + b.i,"+
		" %d, %d, 1000000, %d, %d, %t, FALSE, '', ''"+
		" FROM d a, d b WHERE a.i * 200 + b.i < %d",
		c.Name, first, c.Weight, c.Limit, now-1, first, granted, n))
}

// A writer's end lets many readers in, all of them, some with each statement.
func testCrowdOfReaders(t *testing.T, s Store) {
	const crowd = 450 // more than two statements let in
	db, d := s.admin(t), s.client(t)
	writer := mutex(t.Name())
	writer.Weight, writer.Limit = driver.All, driver.All
	writer = request(t, d, writer, true)
	var readers []driver.Claim
	for range crowd {
		c := mutex(t.Name())
		c.Limit = driver.All
		readers = append(readers, request(t, d, c, false))
	}
	var all sync.WaitGroup
	for _, c := range readers {
		all.Go(func() { await(t, d, c) })
	}
	release(t, d, writer)
	all.Wait()
	const count = "SELECT COUNT(*) FROM holdfast_claims WHERE name = '%s' AND granted = TRUE"
	granted := number(t, db, fmt.Sprintf(count, t.Name()))
	if granted != crowd {
		t.Errorf("%d of %d readers are granted", granted, crowd)
	}
	for _, c := range readers {
		release(t, d, c)
	}
}
