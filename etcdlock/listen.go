package etcdlock

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// listen reports what happens to a claim, as [driver.Followers] says. All claims share one stream and two goroutines,
// whereas a watch of etcd's client takes a goroutine each.
func (d *Driver) listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	key, read, err := d.keyOf(ctx, c)
	if err != nil {
		return nil, err
	}
	return d.subscriptions.listen(key, read+1, moved), nil // no change after the reading is missed
}

// keyOf is the key of a claim, and the revision at which it was read. What is not there has ended.
func (d *Driver) keyOf(ctx context.Context, c driver.Claim) (key string, read int64, err error) {
	if e := d.claims.Known(c); e != nil && !e.isGone() {
		return e.key, e.Revision(), nil
	}
	s, err := d.find(ctx, c)
	return s.key, s.mod, err
}

// subscriptions are to claims of which somebody wants to hear, over one stream.
type subscriptions struct {
	d *Driver

	mu     sync.Mutex
	byID   map[int64]*subscription
	lastID int64
	unsent []*pb.WatchRequest
	asked  []*subscription // for which the server has not said yet whether it listens, which it does in this order
	wake   chan struct{}   // has room for one: something is unsent
	open   bool            // the stream, or it is about to be
}

// A subscription is to what happens to one key.
type subscription struct {
	key   string
	id    int64
	since int64 // the revision from which on something is news; zero: from when the server listens
	moved func()
}

func newSubscriptions(d *Driver) *subscriptions {
	return &subscriptions{d: d, wake: make(chan struct{}, 1), byID: make(map[int64]*subscription)}
}

func (ss *subscriptions) listen(key string, since int64, moved func()) (stop func()) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	e := &subscription{key: key, since: since, moved: moved}
	ss.subscribe(e)
	if !ss.open {
		ss.open = true
		ss.d.running.Go(ss.stay)
	}
	return func() { ss.stop(e) }
}

// subscribe has the server listen for a key. ss.mu is held.
func (ss *subscriptions) subscribe(e *subscription) {
	delete(ss.byID, e.id)
	ss.lastID++
	e.id = ss.lastID
	ss.byID[e.id] = e
	ss.asked = append(ss.asked, e)
	ss.send(e.create())
}

// subscribeAgain has the server listen for a key for which it would not, unless that was asked for since.
func (ss *subscriptions) subscribeAgain(e *subscription, id int64) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.byID[id] == e {
		ss.subscribe(e)
	}
}

func (e *subscription) create() *pb.WatchRequest {
	return &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{
		CreateRequest: &pb.WatchCreateRequest{Key: []byte(e.key), StartRevision: e.since, WatchId: e.id},
	}}
}

func (e *subscription) cancel() *pb.WatchRequest {
	return &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CancelRequest{
		CancelRequest: &pb.WatchCancelRequest{WatchId: e.id},
	}}
}

// send has a request sent. ss.mu is held.
func (ss *subscriptions) send(r *pb.WatchRequest) {
	ss.unsent = append(ss.unsent, r)
	select {
	case ss.wake <- struct{}{}:
	default: // that was said
	}
}

func (ss *subscriptions) stop(e *subscription) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	delete(ss.byID, e.id)
	ss.send(e.cancel())
}

// stay listens until the driver is closed, on one stream after the other.
func (ss *subscriptions) stay() {
	for ss.d.lifetime.Err() == nil {
		ss.stream()
		pause(ss.d.lifetime)
	}
}

// stream listens until that fails.
func (ss *subscriptions) stream() {
	m, ctx, stop := ss.d.members.listener(ss.d.lifetime)
	defer stop()
	s, err := m.watch.Watch(clientv3.WithRequireLeader(ctx))
	if err != nil {
		return
	}
	ss.startAnew()
	sent := make(chan struct{})
	ss.d.running.Go(func() {
		defer close(sent)
		ss.sendAll(s)
	})
	defer func() {
		stop()
		<-sent
	}()
	for {
		r, err := s.Recv()
		if err == nil && r.Canceled && tokenEnded(r.CancelReason) {
			err = errors.New(r.CancelReason)
		}
		if err != nil {
			ss.d.tokens.forget(err)
			return
		}
		ss.deliver(r)
	}
}

// startAnew has the server of a new stream listen for all keys, from where the last one ended.
func (ss *subscriptions) startAnew() {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.unsent, ss.asked = nil, nil // that was for the last stream; what is still wanted is in byID
	for _, e := range slices.Collect(maps.Values(ss.byID)) {
		ss.subscribe(e)
	}
}

// sendAll sends what is to be sent, until the stream ends.
func (ss *subscriptions) sendAll(s pb.Watch_WatchClient) {
	for {
		ss.mu.Lock()
		unsent := ss.unsent
		ss.unsent = nil
		ss.mu.Unlock()
		for _, r := range unsent {
			if s.Send(r) != nil {
				return
			}
		}
		select {
		case <-ss.wake:
		case <-s.Context().Done():
			return
		}
	}
}

// deliver tells those who listen. Where the server has compacted a history in which there may have been news, they
// are told. Where it refuses to listen, it is asked again: the right to a lock may be granted later.
func (ss *subscriptions) deliver(r *pb.WatchResponse) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	e := ss.byID[r.WatchId]
	if r.Created && len(ss.asked) > 0 { // a refusal does not say what is refused
		e, ss.asked = ss.asked[0], ss.asked[1:]
	}
	if e == nil || ss.byID[e.id] != e {
		return
	}
	switch {
	case r.Canceled && r.CompactRevision > 0:
		e.since = 0
		ss.subscribe(e)
	case r.Canceled:
		id := e.id
		time.AfterFunc(refusedPause, func() { ss.subscribeAgain(e, id) })
	case len(r.Events) > 0:
		e.since = r.Header.Revision + 1
		e.moved()
	case r.Created && e.since == 0:
		e.moved()
	}
}
