package zklock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A Driver keeps queues of claims in ZooKeeper. Besides [driver.Driver] it is a [driver.Lister], a [driver.Checker], a
// [driver.Reaper] and a [driver.Noter]. All methods are safe for concurrent use.
type Driver struct {
	followers driver.Followers

	hosts    []string
	opts     Options
	acl      []zk.ACL
	keys     keyspace
	format   int
	room     int             // bytes that the nodes of one session may come to
	lifetime context.Context // ends with Close
	stop     context.CancelFunc
	running  leased.Group
	shunned  shunned
	learn    func() driver.Traits // asks once
	learned  atomic.Pointer[driver.Traits]
	lookUp   func(ctx context.Context, host string) ([]string, error)

	claims  leased.Claims[*claim]
	hangUps hangUps

	mu    sync.Mutex
	slots map[time.Duration][]*slot // sessions by the TTL they are for
}

var (
	_ driver.Driver  = (*Driver)(nil)
	_ driver.Lister  = (*Driver)(nil)
	_ driver.Checker = (*Driver)(nil)
	_ driver.Reaper  = (*Driver)(nil)
	_ driver.Noter   = (*Driver)(nil)
)

// New returns a driver on these servers, host:port each. It takes no client, because it makes its connections itself
// when it is used: ZooKeeper gives a connection one timeout, so there must be one for each TTL.
func New(hosts []string, opts *Options) (*Driver, error) {
	if len(hosts) == 0 {
		return nil, errors.New("zklock: no server is named; give at least one, as host:port")
	}
	if opts == nil {
		opts = &Options{}
	}
	keys, err := opts.keys()
	if err != nil {
		return nil, err
	}
	room, err := opts.room()
	if err != nil {
		return nil, err
	}
	d := &Driver{
		hosts: hosts, opts: *opts, acl: opts.acl(), keys: keys, format: recordFormat, room: room,
		slots: make(map[time.Duration][]*slot),
	}
	d.followers.Wait, d.followers.Listen, d.followers.Changed = d.wait, d.listen, d.changed
	d.lookUp = net.DefaultResolver.LookupHost
	d.lifetime, d.stop = context.WithCancel(context.Background())
	d.learn = sync.OnceValue(d.learnTraits)
	return d, nil
}

// Bounds of what a claim may ask for.
const (
	minTTL  = 100 * time.Millisecond
	maxName = 1024

	// longestTime is what to ask for in order to learn the longest. No session is asked to live for longer.
	longestTime = 20 * 24 * time.Hour
)

// Traits returns facts about the driver. The first call may take a moment: it asks the server how long it lets
// sessions live. If that does not answer, MaxTTL is zero, and a request says whether its TTL is too long.
func (d *Driver) Traits() driver.Traits {
	if t := d.learned.Load(); t != nil {
		return *t
	}
	return d.learn()
}

// traitsInTime is Traits, unless ctx ends before.
func (d *Driver) traitsInTime(ctx context.Context) (driver.Traits, error) {
	if t := d.learned.Load(); t != nil {
		return *t, nil
	}
	learned := make(chan driver.Traits, 1)
	d.running.Go(func() { learned <- d.learn() })
	select {
	case t := <-learned:
		return t, nil
	case <-ctx.Done():
		return driver.Traits{}, ctx.Err()
	}
}

func (d *Driver) learnTraits() driver.Traits {
	ctx, cancel := context.WithTimeout(d.lifetime, startTimeout)
	defer cancel()
	var longest time.Duration
	if s, err := d.start(ctx, longestTime); err == nil {
		defer s.end()
		longest = s.longestTTL()
	}
	return d.know(longest)
}

// know notes the longest TTL.
func (d *Driver) know(longest time.Duration) driver.Traits {
	t := traits(longest)
	d.learned.Store(&t)
	return t
}

// traits are facts, and like those of etcdlock where both engines are alike.
func traits(longest time.Duration) driver.Traits {
	return driver.Traits{
		Backend: "zookeeper", MinTTL: minTTL, MaxTTL: longest, MaxName: maxName,
		Fenced: true, FIFO: true, ServerClock: true, Weighted: true, Listed: true,
		Ops:   leased.Kinds,
		Alone: 2, MaxInFlight: 1,
	}
}

// longestTTL is the longest TTL of claims. It is asked of a session for which a very long time was requested: the
// server granted what it could.
func (s *session) longestTTL() time.Duration {
	return (s.ttl - 2*time.Millisecond).Truncate(time.Millisecond) // sessionTime rounds up
}

// Close ends all waits and the sessions. Claims that are left end with their sessions.
func (d *Driver) Close() error {
	d.followers.Close()
	d.stop()
	d.claims.Stop()
	sessions := d.sessions()
	forEach(len(sessions), func(i int) { sessions[i].end() })
	d.running.Wait()
	return nil
}

// sessions are those that are there.
func (d *Driver) sessions() (list []*session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, slots := range d.slots {
		for _, slot := range slots {
			if s, ok := slot.Lease(); ok { // else it ends with the lifetime
				list = append(list, s)
			}
		}
	}
	return list
}

// TTLs of the session for questions, where there is no other. The shorter one is for servers of which it is not known
// for how long they let sessions live.
const (
	askTTL     = 10 * time.Second
	askBlindly = 2 * time.Second
)

// asking returns a session for questions about claims of others, which is not given up for a while: an answer may take
// several steps in it. It is the one that was used last, so that others end. One that servers turn away may have long
// to wait.
func (d *Driver) asking(ctx context.Context) (*session, error) {
	sessions := slices.DeleteFunc(d.sessions(), func(s *session) bool { return s.link.isTurnedAway() })
	slices.SortFunc(sessions, func(s, t *session) int { return cmp.Compare(t.usedAt(), s.usedAt()) })
	for _, s := range sessions {
		if s.use() {
			return s, nil
		}
	}
	t, err := d.traitsInTime(ctx)
	if err != nil {
		return nil, err
	}
	return d.sessionFor(ctx, min(askTTL, cmp.Or(t.MaxTTL, askBlindly)))
}

// inquire puts a question in a session, and again in another one when that has ended meanwhile, as one of a short TTL
// may whose claims are gone.
func inquire[T any](ctx context.Context, d *Driver, q func(*session) (T, error)) (answer T, err error) {
	for {
		s, err := d.asking(ctx)
		if err == nil {
			answer, err = inquireIn(s, q)
		}
		if !errors.Is(err, errSessionLost) || ctx.Err() != nil || d.lifetime.Err() != nil {
			return answer, err
		}
	}
}

func inquireIn[T any](s *session, q func(*session) (T, error)) (T, error) {
	defer s.engage()()
	return q(s)
}

// validate checks a claim before anything is sent about it.
func (d *Driver) validate(ctx context.Context, c driver.Claim) error {
	t, err := d.traitsInTime(ctx)
	if err != nil {
		return err
	}
	return driver.Validate(c, t)
}

func (d *Driver) open(ctx context.Context, name string) error {
	if d.lifetime.Err() != nil {
		return driver.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.keys.check(name)
}

// granted is the TTL that a claim gets when it asks for this one.
func (s *session) granted(ttl time.Duration) (time.Duration, error) {
	switch {
	case ttl == s.asked:
		return s.ttl, nil
	case ttl <= s.ttl:
		return ttl, nil
	default:
		return 0, fmt.Errorf("%w: a claim that was requested with a TTL of %v cannot be renewed with one of %v; "+
			"request it with the longer TTL", driver.ErrRefused, s.asked, ttl)
	}
}
