// Package drivertest is the contract of package driver as tests. A driver runs it against its real server:
//
//	func TestDriver(t *testing.T) {
//		srv := servers.Redis(t)
//		drivertest.Run(t, drivertest.Harness{Open: func(t testing.TB) driver.Driver { return open(t, srv.Addr) }})
//	}
//
// The contract is a table whose rows carry their reason, which a failure prints. The rows run with the driver as it is,
// and over a connection that loses, repeats and delays what passes it. After that come tests that draw operations at
// random and compare the driver with memlock and with the grant rule. What is drawn follows from a seed: a failure
// prints it, and the flag -drivertest.seed or the environment variable HOLDFAST_TEST_SEED replays it.
package drivertest

import (
	"cmp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/pace"
)

// A Harness lets the suite reach a driver.
type Harness struct {
	// Open returns a new client, with its own connection, of the same store each time. It registers with t.Cleanup what
	// closes the client, which may be closed before. The suite uses fresh lock names and needs no empty store, but
	// shares it with nobody.
	Open func(t testing.TB) driver.Driver

	// Virtual is for engines in memory, in place of Open: it makes a store and returns what opens clients of it. Each
	// test then has a store of its own, in a synctest bubble, whose time passes at once.
	Virtual func() func(t testing.TB) driver.Driver

	// TTL is for claims that should expire during a test. Zero: the shortest that the driver takes, and at least 300
	// ms. A test that fails after the machine stalled is tried again with longer ones, so that no TTL need be generous.
	TTL time.Duration

	// Long is for claims that must outlive their test, on engines where a claim costs so much that many take seconds,
	// and in stores with so many names that a list does. A request may take half as long. Zero: 30 s.
	Long time.Duration

	// Spoil makes what the store has of a lock unreadable, so that [driver.OpQueue] fails. Rows that need it
	// are skipped without it.
	Spoil func(t testing.TB, name string)

	// Elects says that the servers elect a leader or vote, and that a request has no answer while they have none or too
	// few of them do. On a busy machine that may be at any time; requests without an answer are repeated then.
	Elects bool

	lend func(t testing.TB) driver.Driver // returns a client that no other test uses until this one ends
}

// shortTTL is for claims that a test lets expire.
func (h Harness) shortTTL(tr driver.Traits) time.Duration {
	if h.TTL > 0 {
		return h.TTL
	}
	return max(tr.MinTTL, 300*time.Millisecond)
}

// longTTL is for claims that outlive their test.
func (h Harness) longTTL(tr driver.Traits) time.Duration {
	ttl := max(cmp.Or(h.Long, 30*time.Second), tr.MinTTL, h.TTL)
	if tr.MaxTTL > 0 {
		ttl = min(ttl, tr.MaxTTL)
	}
	return ttl
}

// A row is one sentence of the contract.
type row struct {
	name string
	why  string // the sentence, or what goes wrong where it does not hold
	run  func(*env)

	needs func(*Facade) bool // nil: every driver has what it takes
	exact bool               // needs each request applied once and at once: not for a bad connection
	late  bool               // copies of requests come when their claims have ended: engines are not told of tries
}

// contract returns all rows.
func contract() []row {
	var rows []row
	for _, group := range [][]row{
		requestRows, grantRows, releaseRows, seriesRows, expiryRows, queueRows, nameRows, waitRows, listenRows,
		renewRows, watchRows, listRows, breakRows, revokeRows, noteRows, valueRows, proposeRows, traitsRows,
		identityRows, crowdRows,
	} {
		rows = append(rows, group...)
	}
	return rows
}

// Run runs the suite: each row on the driver as it is, which is what docs/guarantees.md names. On real servers the rest
// is left to make test-long, where it has the race detector, too; engines in memory have all of it each time.
func Run(t *testing.T, h Harness) {
	if h.Virtual != nil {
		defer bubble.Alone()()
	} else {
		h.lend = (&clients{suite: t, open: h.Open}).lend
	}
	t.Run("contract", func(t *testing.T) { runRows(t, h, setting{tries: true}) })
	t.Run("faulty", func(t *testing.T) {
		h.unlessVirtual(t)
		runRows(t, h, setting{wrap: overFaults, lossy: true})
	})
	t.Run("model", func(t *testing.T) { h.unlessVirtual(t); runModel(t, h) })
	t.Run("rule", func(t *testing.T) { h.unlessVirtual(t); h.run(t, "drawn", func(t *pace.T) { runRule(t, h) }) })
}

// unlessVirtual leaves a part of the suite to make test-long, except where time is virtual and so costs nothing.
func (h Harness) unlessVirtual(t *testing.T) {
	t.Helper()
	if h.Virtual == nil {
		effort.Long(t)
	}
}

// A setting says how the rows reach the driver. The zero setting is directly.
type setting struct {
	// wrap returns the driver that the nth client of a test has.
	wrap func(t testing.TB, d *Facade, n int) *Facade
	// lossy says that requests fail without an answer and are repeated, and that pushes may be lost.
	lossy bool
	// tries says that engines are told whether an operation was tried before.
	tries bool
}

// rowsAtOnce is how many rows run at a time. Most of them wait for time to pass.
const rowsAtOnce = 16

func runRows(t *testing.T, h Harness, s setting) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, rowsAtOnce)
	for _, r := range contract() {
		if s.lossy && r.exact {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			h.run(t, r.name, func(t *pace.T) { r.test(t, h, s) })
		})
	}
	wg.Wait()
}

// run runs a test as a subtest, in real time or in virtual time.
func (h Harness) run(t *testing.T, name string, test func(*pace.T)) {
	if h.Virtual == nil {
		pace.Run(t, name, test)
		return
	}
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(pace.Virtual(t)) })
	})
}

func (r row) test(t *pace.T, h Harness, s setting) {
	s.tries = s.tries && !r.late
	e := newEnv(t, h, s)
	if r.needs != nil && !r.needs(e.d) {
		t.Skip("the driver does not offer this")
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the rule: %s", r.why)
			tellSeed(t)
		}
	})
	r.run(e)
}
