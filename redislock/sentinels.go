package redislock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/driver"
)

// sentinels are the servers that decide which server is the master.
type sentinels struct {
	master   string        // the name of the group
	hosts    []string      // those that the URL names
	patience time.Duration // with their answers
	calm     time.Duration // between two questions when all is well
	dial     dialFunc
	moved    func() // told when one of them says that the master is another now

	mu      sync.Mutex
	members map[string]string    // all that are known: addresses by ID
	links   map[string]*sentinel // by address
	closed  bool
}

// A dialFunc connects to a server, or to a sentinel.
type dialFunc func(ctx context.Context, addr string) (rueidis.Client, error)

// A sentinel is the connection to one sentinel.
type sentinel struct {
	client       rueidis.Client // nil while it is being connected to
	subscription *subscription
}

// sentinelPatience is how long sentinels may take to answer.
const sentinelPatience = time.Second

// ask asks all sentinels at once. It waits for no more than a majority, unless these know only of an older epoch than
// since: then others may know more. It takes the answers that come while ctx lives.
func (s *sentinels) ask(ctx context.Context, since uint64) (named, error) {
	addrs := s.addrs()
	replies := make(chan sentinelReply, len(addrs))
	for _, addr := range addrs {
		go func() {
			a, err := s.askOne(ctx, addr)
			replies <- sentinelReply{addr, a, err}
		}()
	}
	t := s.newPoll()
	err := t.count(ctx, replies, since)
	if len(t.heard) == 0 {
		return named{}, fmt.Errorf("no sentinel names a master: %w", err)
	}
	s.remember(t)
	return t.result(), nil
}

// addrs returns the addresses of all sentinels that are to be asked.
func (s *sentinels) addrs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known()
}

// known is addrs. mu is held.
func (s *sentinels) known() []string {
	addrs := slices.Clone(s.hosts)
	for _, addr := range s.members {
		if !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	return addrs
}

func (s *sentinels) newPoll() *poll {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &poll{members: maps.Clone(s.members), heard: make(map[string]sentinelAnswer)}
}

// remember keeps what a poll has found: who is a sentinel. Those that are gone are forgotten, with the connections to
// them.
func (s *sentinels) remember(t *poll) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members = t.left()
	known := s.known()
	for addr, l := range s.links {
		if !slices.Contains(known, addr) {
			delete(s.links, addr)
			l.close()
		}
	}
}

// askOne asks one sentinel for the master, and for the other sentinels. During a failover its record of the master
// already has the new epoch and still the old address. So the address is asked for by itself, and after the epoch: an
// address is never older than its epoch.
func (s *sentinels) askOne(ctx context.Context, addr string) (sentinelAnswer, error) {
	client, err := s.client(ctx, addr)
	if err != nil {
		return sentinelAnswer{}, err
	}
	ask := func(what ...string) rueidis.Completed {
		return client.B().Arbitrary("SENTINEL").Args(what...).Build()
	}
	answers := client.DoMulti(ctx,
		ask("MASTER", s.master), ask("GET-MASTER-ADDR-BY-NAME", s.master), ask("SENTINELS", s.master), ask("MYID"))
	record, err := answers[0].AsStrMap()
	if err != nil {
		return sentinelAnswer{}, rueidisError(err)
	}
	place, err := answers[1].AsStrSlice()
	if err != nil || len(place) != 2 {
		return sentinelAnswer{}, cmp.Or(rueidisError(err), errNoMaster)
	}
	a := sentinelAnswer{addr: net.JoinHostPort(place[0], place[1]), others: make(map[string]string)}
	a.id, _ = answers[3].ToString() // not every user may ask for it
	others, _ := answers[2].ToArray()
	for _, m := range others {
		if other, err := m.AsStrMap(); err == nil {
			a.others[other["runid"]] = net.JoinHostPort(other["ip"], other["port"])
		}
	}
	a.epoch, err = strconv.ParseUint(record["config-epoch"], 10, 64)
	return a, err
}

var (
	errNoMaster   = errors.New("redis: a sentinel returned an unexpected answer")
	errConnecting = errors.New("redis: the sentinel has not taken the connection yet")
)

// client returns the connection to a sentinel. Where there is none yet, this call connects, and others fail meanwhile
// instead of waiting: the other sentinels may be enough.
func (s *sentinels) client(ctx context.Context, addr string) (rueidis.Client, error) {
	l, first, err := s.link(addr)
	if !first {
		return l.client, cmp.Or(err, l.pending())
	}
	client, err := s.dial(ctx, addr)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.links[addr] != l { // it is closed, or forgotten
		if err == nil {
			client.Close()
		}
		return nil, cmp.Or(err, driver.ErrClosed)
	}
	if err != nil {
		delete(s.links, addr)
		return nil, err
	}
	*l = sentinel{client: client, subscription: subscribe(switchFeed{client, s.master, s.moved})}
	return client, nil
}

// link returns the connection to a sentinel as it is now. Where there is none, first is true, and the caller makes
// it.
func (s *sentinels) link(addr string) (l *sentinel, first bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return &sentinel{}, false, driver.ErrClosed
	}
	if l := s.links[addr]; l != nil {
		return &sentinel{client: l.client}, false, nil
	}
	l = &sentinel{}
	s.links[addr] = l
	return l, true, nil
}

// A switchFeed is what one sentinel publishes when it names another master. What it publishes between two
// subscriptions is not heard, and is found by asking.
type switchFeed struct {
	client rueidis.Client
	master string // the name of the group
	moved  func()
}

func (f switchFeed) listen(ctx context.Context, confirmed func()) error {
	return rueidisConn{client: f.client}.Listen(ctx, "+switch-master", confirmed, func(message string) {
		if name, _, _ := strings.Cut(message, " "); name == f.master {
			f.moved()
		}
	})
}

func (f switchFeed) connected(again bool) {
	if again {
		f.moved()
	}
}

// pending is the error for a connection that somebody else is making.
func (l *sentinel) pending() error {
	if l.client == nil {
		return errConnecting
	}
	return nil
}

// close ends a connection. Nobody waits for that: it may take as long as a server takes that does not answer.
func (l *sentinel) close() {
	if l.client == nil {
		return // whoever connects closes it
	}
	l.subscription.stop()
	go l.client.Close()
}

func (s *sentinels) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		l.close()
	}
	s.links, s.closed = nil, true
}
