package etcdlock

import (
	"context"
	"maps"
	"slices"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// Listen tells what happens to a claim, as [driver.Listener] says. However many there are to listen to, that takes one
// stream and two goroutines: the watches of etcd's client take one each. With a client whose parts were replaced, such as
// by package namespace, it takes a goroutine for each claim.
func (d *Driver) Listen(ctx context.Context, c driver.Claim, moved func()) (stop func(), err error) {
	if err := d.open(ctx); err != nil {
		return nil, err
	}
	key, read, err := d.keyOf(ctx, c)
	switch {
	case err != nil:
		return nil, err
	case d.members.canMux():
		return d.ears.listen(key, read+1, moved), nil
	default:
		return d.listenAlone(key, moved), nil
	}
}

// keyOf is the key of a claim, and the revision at which it was read. What is not there has ended.
func (d *Driver) keyOf(ctx context.Context, c driver.Claim) (key string, read int64, err error) {
	if e := d.claims.Known(c); e != nil && !e.isGone() {
		return e.key, e.Revision(), nil
	}
	s, ok, err := d.find(ctx, c)
	if err == nil && !ok {
		err = driver.ErrGone
	}
	return s.key, s.mod, err
}

// listenAlone listens for one claim.
func (d *Driver) listenAlone(key string, moved func()) (stop func()) {
	ctx, cancel := context.WithCancel(d.lifetime)
	d.running.Go(func() {
		for ctx.Err() == nil {
			for r := range d.follow(ctx, key).news {
				if r.Created || len(r.Events) > 0 {
					moved()
				}
			}
			pause(ctx)
		}
	})
	return cancel
}

// ears listen for claims over one stream.
type ears struct {
	d *Driver

	mu     sync.Mutex
	byKey  map[string]*ear
	byID   map[int64]*ear
	lastID int64
	unsent []*pb.WatchRequest
	wake   chan struct{} // has room for one: something is unsent
	open   bool          // the stream, or it is about to be
}

// An ear is for what happens to one key.
type ear struct {
	key       string
	id        int64
	since     int64 // the revision from which on something is news; zero: from when the server listens
	listeners driver.Listeners
}

func newEars(d *Driver) *ears {
	return &ears{d: d, byKey: make(map[string]*ear), byID: make(map[int64]*ear), wake: make(chan struct{}, 1)}
}

func (es *ears) listen(key string, since int64, moved func()) (stop func()) {
	es.mu.Lock()
	defer es.mu.Unlock()
	e := es.byKey[key]
	if e == nil {
		e = &ear{key: key, since: since}
		es.byKey[key] = e
		es.prick(e)
	} else {
		moved() // others may have been told already of what the caller does not know
	}
	remove := e.listeners.Add(moved)
	if !es.open {
		es.open = true
		es.d.running.Go(es.stay)
	}
	return sync.OnceFunc(func() { es.stop(e, remove) })
}

// prick has the server listen for a key. es.mu is held.
func (es *ears) prick(e *ear) {
	delete(es.byID, e.id)
	es.lastID++
	e.id = es.lastID
	es.byID[e.id] = e
	es.send(e.create())
}

func (e *ear) create() *pb.WatchRequest {
	return &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{
		CreateRequest: &pb.WatchCreateRequest{Key: []byte(e.key), StartRevision: e.since, WatchId: e.id},
	}}
}

// send has a request sent. es.mu is held.
func (es *ears) send(r *pb.WatchRequest) {
	es.unsent = append(es.unsent, r)
	select {
	case es.wake <- struct{}{}:
	default: // that was said
	}
}

func (es *ears) stop(e *ear, remove func()) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if remove(); !e.listeners.None() {
		return
	}
	delete(es.byKey, e.key)
	delete(es.byID, e.id)
	es.send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CancelRequest{CancelRequest: &pb.WatchCancelRequest{WatchId: e.id}}})
}

// stay listens until the driver is closed, on one stream after the other.
func (es *ears) stay() {
	for es.d.lifetime.Err() == nil {
		es.stream()
		pause(es.d.lifetime)
	}
}

// stream listens until that fails.
func (es *ears) stream() {
	m, ctx, stop := es.d.members.listener(es.d.lifetime)
	defer stop()
	s, err := m.watch.Watch(clientv3.WithRequireLeader(ctx))
	if err != nil {
		return
	}
	es.startAnew()
	sent := make(chan struct{})
	es.d.running.Go(func() {
		defer close(sent)
		es.speak(s)
	})
	defer func() {
		stop()
		<-sent
	}()
	for {
		r, err := s.Recv()
		if err != nil {
			return
		}
		es.hear(r)
	}
}

// startAnew has the server of a new stream listen for all keys, from where the last one ended.
func (es *ears) startAnew() {
	es.mu.Lock()
	defer es.mu.Unlock()
	es.unsent = nil
	for _, e := range slices.Collect(maps.Values(es.byKey)) {
		es.prick(e)
	}
}

// speak sends what is to be sent, until the stream ends.
func (es *ears) speak(s pb.Watch_WatchClient) {
	for {
		es.mu.Lock()
		unsent := es.unsent
		es.unsent = nil
		es.mu.Unlock()
		for _, r := range unsent {
			if s.Send(r) != nil {
				return
			}
		}
		select {
		case <-es.wake:
		case <-s.Context().Done():
			return
		}
	}
}

// hear tells those who listen. Where the history is gone in which there may have been news, that is news.
func (es *ears) hear(r *pb.WatchResponse) {
	es.mu.Lock()
	defer es.mu.Unlock()
	e := es.byID[r.WatchId]
	if e == nil {
		return
	}
	switch {
	case r.Canceled && r.CompactRevision > 0:
		e.since = 0
		es.prick(e)
	case len(r.Events) > 0:
		e.since = r.Header.Revision + 1
		e.listeners.Call()
	case r.Canceled, r.Created && e.since == 0: // a refusal is found out by the next renewal
		e.listeners.Call()
	}
}
