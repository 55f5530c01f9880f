package etcdlock

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// members are the servers of a cluster. All calls go to one of them, another for each client, until it fails or
// hangs.
type members struct {
	client *clientv3.Client

	mu        sync.Mutex
	endpoints []string // as the client had them at the last look
	list      []*member
	current   *member
	looked    time.Time

	closing leased.Group // of members that are gone
}

// newMembers makes connections to all servers of a client.
func newMembers(client *clientv3.Client) (*members, error) {
	ms := &members{client: client, endpoints: client.Endpoints(), looked: time.Now()}
	if len(ms.endpoints) == 0 {
		return nil, clientv3.ErrNoAvailableEndpoints
	}
	if _, err := ms.dial(); err != nil {
		return nil, err
	}
	ms.current = ms.list[rand.N(len(ms.list))]
	return ms, nil
}

// dial makes the list anew for the endpoints, keeping connections that are still of use, and returns the members that
// are not. The error says that the client cannot be used; then the list is what it was.
func (ms *members) dial() (gone []*member, err error) {
	var list, made []*member
	for _, endpoint := range ms.endpoints {
		at := slices.IndexFunc(ms.list, func(m *member) bool { return m.endpoint == endpoint })
		if at >= 0 {
			list = append(list, ms.list[at])
			continue
		}
		m, err := newMember(ms.client, endpoint, ms.avoid)
		if err != nil {
			closeAll(made)
			return nil, err
		}
		list, made = append(list, m), append(made, m)
	}
	for _, m := range ms.list {
		if !slices.Contains(list, m) {
			m.distrust()
			gone = append(gone, m)
		}
	}
	ms.list = list
	return gone, nil
}

// refreshTime is how often to look whether the client has other endpoints, because it or its owner looked them up
// anew.
const refreshTime = time.Second

// refresh makes up for that, and returns the members that are not of use any more. ms.mu is held.
func (ms *members) refresh() (gone []*member) {
	if time.Since(ms.looked) < refreshTime {
		return nil
	}
	ms.looked = time.Now()
	endpoints := ms.client.Endpoints()
	if len(endpoints) == 0 || slices.Equal(endpoints, ms.endpoints) {
		return nil
	}
	before := ms.endpoints
	ms.endpoints = endpoints
	gone, err := ms.dial()
	if err != nil {
		ms.endpoints = before // it is tried again
		return nil
	}
	if !slices.Contains(ms.list, ms.current) {
		ms.current = ms.list[rand.N(len(ms.list))]
	}
	return gone
}

// use has the client use these endpoints. It must not make a connection meanwhile.
func (ms *members) use(endpoints []string) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.client.SetEndpoints(endpoints...)
}

// dialOnly makes a connection to one server that is none of the members.
func (ms *members) dialOnly(endpoint string) (*member, error) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return newMember(ms.client, endpoint, func(*member) {})
}

// first is the member to ask. several says that there are others.
func (ms *members) first() (m *member, several bool) {
	m, several, _ = ms.look()
	return m, several
}

// look returns the member to ask, whether there are others, and how long that one is trusted.
func (ms *members) look() (m *member, several bool, trust context.Context) {
	ms.mu.Lock()
	gone := ms.refresh()
	m, several, trust = ms.current, len(ms.list) > 1, ms.current.trust
	ms.mu.Unlock()
	if len(gone) > 0 {
		ms.closing.Go(func() { closeAll(gone) }) // a stream of theirs may be what looks
	}
	return m, several, trust
}

// after is whom to ask when m does not answer: the others, then m.
func (ms *members) after(m *member) []*member {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	at := slices.Index(ms.list, m) + 1
	return slices.Concat(ms.list[at:], ms.list[:at])
}

// inOrder is whom to ask, the member to ask first before the others.
func (ms *members) inOrder() []*member {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	at := slices.Index(ms.list, ms.current)
	return slices.Concat(ms.list[at:], ms.list[:at])
}

// prefer makes m the one to ask.
func (ms *members) prefer(m *member) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if slices.Contains(ms.list, m) {
		ms.current = m
	}
}

// avoid makes another one the one to ask, and ends what listens to m.
func (ms *members) avoid(m *member) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if !slices.Contains(ms.list, m) {
		return
	}
	m.distrust()
	m.renewTrust()
	if ms.current == m {
		ms.current = ms.list[(slices.Index(ms.list, m)+1)%len(ms.list)]
	}
}

// listener returns the member to listen to, and a context that ends with ctx, or when that member is not to be
// trusted.
func (ms *members) listener(ctx context.Context) (*member, context.Context, context.CancelFunc) {
	m, _, trust := ms.look()
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(trust, cancel)
	return m, ctx, func() {
		stop()
		cancel()
	}
}

func (ms *members) close() {
	ms.mu.Lock()
	list := ms.list
	for _, m := range list {
		m.distrust()
	}
	ms.mu.Unlock()
	closeAll(list)
	ms.closing.Wait()
}

// closeAll closes members. It waits for the ends of their streams, each of which may be about to say that its member
// is to be avoided: members.mu is not held.
func closeAll(list []*member) {
	for _, m := range list {
		m.close()
	}
}
