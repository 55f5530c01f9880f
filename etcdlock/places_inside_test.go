package etcdlock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A place is for one claim at a time. Nothing is kept of a queue in which nobody has one.
func TestPlaceIsForOneClaim(t *testing.T) {
	var ps places
	a, b := ps.take("q/"), ps.take("q/")
	if a.number != 0 || b.number != 1 {
		t.Errorf("the first places are %d and %d", a.number, b.number)
	}
	a.giveBack()
	if again := ps.take("q/"); again.number != 0 {
		t.Errorf("place 0 is free, and %d was taken", again.number)
	} else {
		again.giveBack()
	}
	if b.giveBack(); len(ps.queues) != 0 {
		t.Errorf("nobody has a place, and %v is kept", ps.queues)
	}
}

// The place of a claim that has ended is free at once where no message can be late that would meet the next one, after
// a while where one may be, and never where another client may have the claim.
func TestWhenAPlaceIsFree(t *testing.T) {
	const ttl = 10 * time.Second
	for name, row := range map[string]struct {
		end  func(*Driver, *claim)
		when time.Duration // less than zero: never
	}{
		"it was never sent":       {(*Driver).forget, 0},
		"it was released":         {func(d *Driver, e *claim) { e.Answered(7); d.forgetReleased(e) }, 0},
		"its request may be late": {func(d *Driver, e *claim) { e.Doubt(); d.forget(e) }, ttl + leased.TombstoneGrace},
		"its undo may be late": {func(d *Driver, e *claim) {
			e.queuedHere()
			e.Answered(7)
			d.forgetReleased(e)
		}, -1},
		"its undo and its request may be late": {func(d *Driver, e *claim) {
			e.queuedHere()
			e.Doubt()
			d.forget(e)
		}, -1},
		"it was broken": {func(d *Driver, e *claim) {
			e.Answered(7)
			e.rememberEnd()
		}, ttl + leased.TombstoneGrace},
		"it was not renewed": {func(d *Driver, e *claim) { e.expire(); e.leavePlace() }, -1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &Driver{shelves: make(map[int64]*shelf), slots: make(map[int64]*slot)}
				d.lifetime, d.end = context.WithCancel(t.Context())
				l := &lease{d: d, id: 1, lost: make(chan struct{})}
				l.lose() // so nobody asks a server to remove what expired
				for range 2 {
					d.shelves[noteTime(ttl)] = &shelf{current: leased.NewSlot[*lease]()}
				}
				e := d.enter(driver.Claim{Name: "job", ID: "a", Weight: 1, Limit: 1, TTL: ttl}, "", 0, l)
				row.end(d, e)
				free := func() bool {
					synctest.Wait()
					p := l.places.take(e.queue)
					defer p.giveBack()
					return p.number == 0
				}
				if row.when != 0 {
					if time.Sleep(row.when - 1); free() {
						t.Error("it is free too early")
					}
				}
				if time.Sleep(time.Nanosecond); row.when >= 0 && !free() {
					t.Error("it is not free")
				}
				if time.Sleep(24 * time.Hour); row.when < 0 && free() {
					t.Error("it is free")
				}
				d.end()
				d.running.Wait()
			})
		})
	}
}

// A copy of an undo that knows no token arrives when the next claim has been queued.
func TestLateUndoMeetsNobody(t *testing.T) {
	t.Parallel()
	d := alone(t)
	c := driver.Claim{Name: "job", ID: "c1", Weight: 1, Limit: 1, TTL: 20 * time.Second, Queue: true}
	l, err := d.leaseOf(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	e := d.enter(c, "", 0, l)
	if err := d.undo(t.Context(), e); !errors.Is(err, driver.ErrGone) {
		t.Fatalf("an undo of what was never queued says %v", err)
	}
	next := c
	next.ID = "c2"
	st, err := d.Request(t.Context(), next)
	if err != nil || !st.Granted {
		t.Fatal(st, err)
	}
	if _, err := d.client.Delete(t.Context(), e.key); err != nil { // as the copy does
		t.Fatal(err)
	}
	next.Token = st.Token
	if st, err := d.Request(t.Context(), next); err != nil || !st.Granted {
		t.Errorf("the next claim is told %+v, %v", st, err)
	}
}

// A late copy of a request queued a claim that had ended, because the store was full and kept no note of its end. The
// next claim finds it at its key.
func TestOrphanMakesRoom(t *testing.T) {
	t.Parallel()
	d := alone(t)
	for name, queue := range map[string]bool{"waits": true, "would not wait": false} {
		t.Run(name, func(t *testing.T) {
			c := driver.Claim{Name: name, ID: "c1", Weight: 1, Limit: 1, TTL: 20 * time.Second, Queue: queue}
			l, err := d.leaseOf(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			orphan := d.newRecord(c)
			orphan.ID = "c0"
			key := claimAt(d.keys.queue(name), l.id, 0)
			if _, err := d.client.Put(t.Context(), key, encode(orphan), clientv3.WithLease(l.id)); err != nil {
				t.Fatal(err)
			}
			if st, err := d.Request(t.Context(), c); err != nil || !st.Granted {
				t.Errorf("a request behind an orphan gets %+v, %v", st, err)
			}
			if queue, err := d.Queue(t.Context(), name); err != nil || len(queue) != 1 || queue[0].ID != c.ID {
				t.Errorf("in the queue are %+v, %v", queue, err)
			}
		})
	}
}

// A server that lags tells late what happened to the claim that had the key before. That is no news of this one.
func TestNewsOfTheClaimBefore(t *testing.T) {
	t.Parallel()
	d := alone(t)
	c := driver.Claim{Name: "job", ID: "c1", Weight: 1, Limit: 1, TTL: 20 * time.Second, Queue: true}
	if _, err := d.Request(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	e := d.claims.Known(c)
	revoked := d.newRecord(c)
	revoked.Revoked = true
	e.self = &watcher{key: e.key, since: 1}
	before := int64(e.Token()) - 1
	ended := &mvccpb.KeyValue{Key: []byte(e.key), ModRevision: before}
	asked := &mvccpb.KeyValue{Key: []byte(e.key), ModRevision: before, Value: []byte(encode(revoked))}
	for name, event := range map[string]*clientv3.Event{
		"its end":                     {Type: mvccpb.Event_DELETE, Kv: ended},
		"that it was asked to let go": {Kv: asked},
	} {
		err := e.newsOfSelf(t.Context(), clientv3.WatchResponse{Events: []*clientv3.Event{event}}, true)
		if st := e.Status(); err != nil || st.Revoked || !st.Granted {
			t.Errorf("%s: the claim is told %+v, %v", name, st, err)
		}
	}
}

// A member that answers from before a claim shows the one that had the key then. Nothing is known about the claim.
func TestClaimBeforeInAnAnswerFromThePast(t *testing.T) {
	t.Parallel()
	d := alone(t)
	c := driver.Claim{Name: "job", ID: "c1", Weight: 1, Limit: 1, TTL: 20 * time.Second, Queue: true}
	before, err := d.Request(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	e := d.claims.Known(c)
	var all inquiries
	q := all.add(e.inquiry(false))
	answer, _, err := d.commit(t.Context(), nil, all.ops, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Answered(uint64(answer.Header.Revision) + 10) // the claim that has the key is a later one
	if _, err := d.read(q, answer); !errors.Is(err, errPast) {
		t.Errorf("an answer from the past, where the token was %d, says %v", before.Token, err)
	}
}
