package servertables

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Driver is a client of the locks in a database.
type Driver struct {
	dialect     *Dialect
	endpoint    *endpoint
	keep        time.Duration
	requests    *pool // its connections have the wake locks
	renewals    *pool // like bulk and delayed it has the requests' pool instead, where it has no connection
	bulk        *pool // for long work, which requests should not wait for
	delayed     *pool // for requests that others should not wait for
	sleeping    *pool // for waiting
	lockedRows  lockedRows
	retaking    atomic.Bool  // wake locks, after renewals
	inspectTime atomic.Int64 // see there; less than that at first
	found       atomic.Int32 // how many locks in a row were free: see alone.go
	following   following
	followers   driver.Followers
	lookout     driver.Lookout
	sweeper     sweeper
	alsoReap    AlsoReap
	closing     sync.Once
}

// Settings adjust a driver.
type Settings struct {
	Keep        time.Duration // for how long tokens are kept after their lock's last use
	FindOut     bool          // whether a proxy lets others share the sessions
	Shared      bool          // where that is not to be found out: it does
	Connections int           // for requests, at most; forRequests where it is 0
	Waits       int           // for waiting, at most; forWaiting where it is 0
	AlsoReap    AlsoReap
}

// How many connections a client has at most, unless it is told otherwise.
const (
	forRequests = 4
	forRenewals = 2
	forWaiting  = 8
	forBulk     = 1
	forDelayed  = 2
)

// New makes a driver on a database that the caller has opened, in which [Migrate] has made the tables.
func New(ctx context.Context, db *sql.DB, d *Dialect, s Settings) (driver.Driver, error) {
	if _, err := d.recognise(ctx, db); err != nil {
		return nil, err
	}
	e, err := newEndpoint(ctx, db, d, s)
	if err != nil {
		return nil, err
	}
	l := &Driver{
		dialect:  d,
		endpoint: e,
		keep:     s.Keep,
		alsoReap: s.AlsoReap,
		requests: newPool(e, cmp.Or(s.Connections, forRequests)),
		renewals: newPool(e, forRenewals),
		bulk:     newPool(e, forBulk),
		delayed:  newPool(e, forDelayed),
		sleeping: newPool(e, cmp.Or(s.Waits, forWaiting)),

		following: newFollowing(),
	}
	l.followers.Wait, l.followers.Listen, l.followers.Changed = l.wait, l.listen, l.lookout.Changed
	l.lookout.Digests, l.lookout.Pace = l.digests, watchPace
	l.requests.must, l.requests.stay, l.renewals.stay = true, 1, 1
	l.renewals.instead, l.bulk.instead, l.delayed.instead = l.requests, l.requests, l.requests
	l.startSweeping()
	if err := inTurn(ctx, l.requests, affinity{}, func(context.Context, *lane) error { return nil }); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Traits implements [driver.Driver]. They are the same for all servers.
func (d *Driver) Traits() driver.Traits {
	return driver.Traits{
		Backend: d.dialect.Name, MinTTL: 100 * time.Millisecond, MaxTTL: driver.LongestDuration, MaxName: maxName,
		Fenced: true, FIFO: true, ServerClock: true, Weighted: true, Listed: true, Detach: true,
		Ops: kinds, Alone: 2, MaxInFlight: 2,
	}
}

// maxName is the length of the column.
const maxName = 1024

// Close implements [driver.Driver]. Claims live on until their TTL.
func (d *Driver) Close() error {
	d.closing.Do(func() {
		d.followers.Close()
		d.stopSweeping() // the last sweep needs a connection
		pools := []*pool{d.requests, d.renewals, d.bulk, d.delayed, d.sleeping}
		for _, p := range pools {
			p.refuse()
		}
		for _, p := range pools {
			p.close()
		}
		d.following.ended.Wait()
	})
	return nil
}

// AlsoReap removes other rows in the same database, in steps, from a name on, which is empty at first.
type AlsoReap func(ctx context.Context, conn *sql.Conn, from string, age time.Duration) (Reaped, error)

// A Reaped is what a step has removed: things of one kind that belonged to these names.
type Reaped struct {
	Kind  string
	Names []string
	Next  string // the name to go on from; empty at the end
}

var _ interface {
	driver.Driver
	driver.Lister
	driver.Checker
	driver.Reaper
} = (*Driver)(nil)
