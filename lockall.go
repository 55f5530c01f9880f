package holdfast

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A Locker is a lock that LockAll can acquire: a *Mutex, an *RWMutex as its writer, or what [RWMutex.Reader] and
// [Semaphore.Permits] return.
type Locker interface {
	Lock(ctx context.Context) (*Lease, error)
	part() *part
}

// A part is a share of a lock.
type part struct {
	lock
	ask ask
}

// Reader returns the lock for LockAll to acquire as a reader.
func (m *RWMutex) Reader() Locker { return &part{m.lock, reader} }

// Permits returns n permits of the semaphore for LockAll to acquire.
func (s *Semaphore) Permits(n int64) Locker { return &part{s.lock, s.permit(n)} }

func (p *part) Lock(ctx context.Context) (*Lease, error) { return p.acquire(ctx, p.ask, true) }

func (p *part) part() *part    { return p }
func (m *Mutex) part() *part   { return &part{m.lock, alone} }
func (m *RWMutex) part() *part { return &part{m.lock, writer} }

// LockAll acquires several locks, or none. If one fails, or is lost while LockAll waits for the others, it releases
// those that it has, also before a minimum hold is over; it does so in the background if ctx has ended and the backend
// does not answer. The leases are in the order of the arguments, and all of them were held when it returned.
//
// It acquires the locks in the order of their names, and locks of the same name in the order of their stores, whatever
// the order of the arguments. So callers who want the same locks never wait for each other in a circle, in this process
// or another. For that a store must have the same name everywhere: the one that its driver gives (Store of
// [driver.Traits]), or else the URL given to [Open], which all programs should spell alike. Two locks of the same name
// on stores without such names are refused with an error that matches [errors.ErrUnsupported].
//
// A lock that is given twice is ErrDeadlock, also through two clients of one store. So is a context that already holds
// one of the locks, unless WithReentrant counts it. Even then it is ErrDeadlock if LockAll would have to wait for a
// lock that comes earlier in the order, because another caller may hold that one and wait for ours. Other locks that
// the caller holds are not considered: whoever waits while holding such a lock has to take care of the order.
func LockAll(ctx context.Context, locks ...Locker) (all Leases, err error) {
	ps := make(parts, len(locks))
	for i, l := range locks {
		ps[i] = l.part()
	}
	order, err := ps.order(ctx)
	if err != nil {
		return nil, err
	}
	got := make(Leases, len(locks))
	defer func() {
		if all == nil { // after a panic, too
			err = errors.Join(err, got.giveBack(ctx))
		}
	}()
	if err = ps.lock(ctx, order, got); err == nil {
		got.inVain(false) // before the look: Close may end them, and asks whether there is a minimum hold after that
		err = got.each((*Lease).whyOver)
	}
	if err != nil {
		return nil, err
	}
	return got, nil
}

// giveBackTime is how long LockAll waits after its context has ended for what it had got to be given back.
const giveBackTime = 100 * time.Millisecond

// inVain says whether nobody gets them, or has them yet.
func (ls Leases) inVain(are bool) {
	for _, l := range ls.present() {
		l.inVain(are)
	}
}

// giveBack releases what was got in vain. Where ctx has ended that goes on in the background, unless it is soon done.
func (ls Leases) giveBack(ctx context.Context) error {
	ls.inVain(true)
	if ctx.Err() == nil {
		return ls.Release(ctx)
	}
	var left sync.WaitGroup
	for _, l := range ls.present() {
		left.Add(1)
		l.grant.lock.client.run(func() { // Close waits for it, and it ends with the lease at the latest
			defer left.Done()
			_ = l.Release(context.WithoutCancel(ctx)) // nobody is left to tell
		})
	}
	done := make(chan struct{})
	go func() {
		left.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(giveBackTime):
	}
	return nil
}

// parts are the locks given to LockAll.
type parts []*part

// order returns in which order to acquire them, as indices, or why that cannot be done.
func (ps parts) order(ctx context.Context) ([]int, error) {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return ps[i].compare(ps[j]) })
	mustHold := false // by the context, because it holds one that comes later
	for k, i := range slices.Backward(order) {
		p := ps[i]
		if k > 0 {
			if err := p.after(ps[order[k-1]]); err != nil {
				return nil, err
			}
		}
		if mustHold && heldThrough(ctx, &p.lock, p.ask) == nil {
			return nil, p.failure("lock", ErrDeadlock, errInCircle)
		}
		mustHold = mustHold || p.isHeldIn(ctx)
	}
	return order, nil
}

var errInCircle = errors.New("the context already holds one of these locks that comes later in the order; " +
	"release it first, and lock all of them together")

// lock acquires all in this order. Those it has are in got, also when it fails. When one of these is lost it stops
// waiting for the others.
func (ps parts) lock(ctx context.Context, order []int, got Leases) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for k, i := range order {
		if err := ps[i].notIn(ctx, got); err != nil {
			return err
		}
		lease, err := ps[i].Lock(ctx)
		if err != nil {
			return err
		}
		got[i] = lease
		lease.inVain(true) // until all are there
		if k < len(order)-1 {
			defer context.AfterFunc(lease.Context(), func() { cancel(lease.whyOver()) })()
		}
	}
	return nil
}

// whyOver is Err, or says that the client was closed: who waits for more locks has released none.
func (l *Lease) whyOver() error {
	if err := l.over(); err != nil {
		return cmp.Or(l.grant.lock.client.closed(), err)
	}
	return nil
}

// compare orders locks in the same way in every process.
func (p *part) compare(q *part) int {
	return cmp.Or(
		cmp.Compare(p.name, q.name),
		cmp.Compare(p.client.traits.Backend, q.client.traits.Backend),
		cmp.Compare(p.client.store, q.client.store),
	)
}

// after reports why a lock cannot be acquired after the one before it in the order.
func (p *part) after(before *part) error {
	switch {
	case p.name != before.name || p.client.traits.Backend != before.client.traits.Backend:
		return nil
	case p.client.sameStore(before.client):
		return p.twice()
	case before.client.store == "" || p.client.store == "":
		return p.failure("lock", errors.ErrUnsupported, errNoOrder)
	default:
		return nil
	}
}

var errNoOrder = errors.New("another of these locks has the same name, and nothing tells which of the two stores " +
	"comes first; open the clients by URL, or use different names")

func (p *part) twice() error {
	return p.failure("lock", ErrDeadlock, errors.New("it is named twice; name it once"))
}

// isHeldIn reports whether the context holds the lock, in whatever way.
func (p *part) isHeldIn(ctx context.Context) bool {
	for l := range leasesIn(ctx) {
		if l.Name() == p.name && l.grant.lock.client.sameStore(p.client) && l.over() == nil {
			return true
		}
	}
	return false
}

// notIn returns an error if the lock is one of those we have got, in a store that we know by another name: then our own
// claim is in its queue. If the queue cannot be read, that is not for us to tell.
func (p *part) notIn(ctx context.Context, got Leases) error {
	for _, l := range got {
		if l == nil || l.Name() != p.name {
			continue
		}
		queue, _ := p.look(ctx)
		if slices.ContainsFunc(queue, func(e Entry) bool { return e.ID == l.grant.hold.claim.ID }) {
			return p.twice()
		}
	}
	return nil
}

// storeOf names the store that a URL leads to: in the same way in each process that has the same URL, whatever its
// password, and in whatever order it names hosts and parameters. It is for comparing, and never shown.
func storeOf(u *url.URL) string {
	hosts := strings.Split(strings.ToLower(u.Host), ",")
	slices.Sort(hosts)
	named := url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: strings.Join(hosts, ","), Path: u.Path}
	named.RawQuery = u.Query().Encode()
	if u.User != nil {
		named.User = url.User(u.User.Username()) // it may choose the schema
	}
	return named.String()
}

// sameStore reports whether two clients are known to be of one store.
func (c *Client) sameStore(other *Client) bool {
	return c == other || c.store != "" && c.store == other.store || sameDriver(c.driver, other.driver)
}

func sameDriver(d, e driver.Driver) bool {
	return reflect.ValueOf(d).Comparable() && reflect.ValueOf(e).Comparable() && d == e
}
