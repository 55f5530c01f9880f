package zklock_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/zklock"
)

// One change queues a claim and tells that nobody else is in the queue, and one change ends it. A claim that would not
// wait looks first: at what is newest, at the queue and for its own end.
func TestUncontendedRequests(t *testing.T) {
	var p tap
	d := open(t, p.options(), zklock.Server(t).Addr)
	const queued, tried = 2, 5
	for name, c := range map[string]driver.Claim{
		"mutex": claim("m", long), "reader": units("r", 1, driver.All), "semaphore": units("s", 1, 3),
	} {
		for _, queue := range []bool{true, false} {
			warm := c
			warm.ID, c.ID, c.Queue = fmt.Sprint(c.ID, "warm", queue), fmt.Sprint(c.ID, queue), queue
			release(t, d, acquire(t, d, warm)) // the parents are there
			p.counted()
			release(t, d, acquire(t, d, c))
			if got, want := p.counted(), map[bool]int{true: queued, false: tried}[queue]; got > want {
				t.Errorf("%s, queue %v: %d requests for an acquisition and its release, want %d",
					name, queue, got, want)
			}
		}
	}
}

// A claim that would not wait and finds the lock taken changes nothing.
func TestRefusedRequests(t *testing.T) {
	var p tap
	addr := zklock.Server(t).Addr
	other := open(t, nil, addr)
	acquire(t, other, claim("job", long))
	d := open(t, p.options(), addr)
	release(t, d, acquire(t, d, claim("warm up", long)))
	conn := raw(t, addr)
	before := czxid(t, conn)
	c := claim("job", long)
	c.Queue = false
	p.counted()
	enqueue(t, d, c)
	if got := p.counted(); got > 3 {
		t.Errorf("%d requests to find a lock taken, want 3", got)
	}
	if after := czxid(t, conn); after != before+2 { // the node by which this is seen came and went
		t.Errorf("%d changes", after-before-2)
	}
}

// However many wait, a hand-off takes as many requests: the release, and a look of the one that is the next in line
// from then on.
func TestRequestsForEachHandOff(t *testing.T) {
	addr := zklock.Server(t).Addr
	for _, waiters := range []int{1, 4, 16, 64, 256} {
		t.Run(fmt.Sprint(waiters), func(t *testing.T) {
			requests := handOffs(t, addr, waiters)
			t.Logf("%.2f requests for each hand-off", requests)
			if requests > 2 {
				t.Errorf("%.2f requests for each hand-off, want at most 2", requests)
			}
		})
	}
}

// clients is how many the waiters are spread over: the library takes 3 MB for each connection.
const clients = 32

// handOffs lets a lock go through a queue, and returns the requests for each hand-off.
func handOffs(t *testing.T, addr string, waiters int) float64 {
	var p tap
	drivers := make([]*zklock.Driver, min(waiters, clients)+1)
	for i := range drivers {
		drivers[i] = open(t, p.options(), addr)
		release(t, drivers[i], acquire(t, drivers[i], claim("warm up", longest)))
	}
	name := fmt.Sprint("queue of ", waiters)
	holder := drivers[len(drivers)-1]
	held := acquire(t, holder, claim(name, longest))
	claims := make([]driver.Claim, waiters)
	for i := range claims {
		claims[i] = enqueue(t, drivers[i%clients], claim(name, longest))
	}
	p.counted()
	done := make(chan struct{})
	go func() { // ends when all were granted
		defer close(done)
		each(waiters, func(i int) {
			d := drivers[i%clients]
			mustBeGranted(t, d, claims[i])
			release(t, d, claims[i])
		})
	}()
	sent := 0
	until(t, "each watches two ahead of it, and the first only one", func() bool {
		sent += p.counted()
		return sent >= 2*waiters-1
	})
	release(t, holder, held)
	<-done
	return float64(p.counted()) / float64(waiters+1)
}

// A claim looks at the queue while the one ahead of it has the lock, and asks for nothing when that lets go.
func TestGrantWithoutALook(t *testing.T) {
	addr := zklock.Server(t).Addr
	var p tap
	d, other := open(t, p.options(), addr), open(t, nil, addr)
	first, next := acquire(t, other, claim("job", long)), enqueue(t, other, claim("job", long))
	last := enqueue(t, d, claim("job", long))
	done := make(chan error, 1)
	go func() { done <- granted(limit(t), d, last) }()
	release(t, other, first)
	for !d.IsSure(last) {
		select {
		case err := <-done:
			t.Fatalf("it ended while it was behind another: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	p.counted()
	mustBeGranted(t, other, next)
	release(t, other, next)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := p.counted(); got > 0 {
		t.Errorf("%d requests after the one ahead has let go, want none", got)
	}
}

// However many claims of a client are on one lock, their renewals read its queue once: each answer names all of them.
func TestRenewalOfACrowd(t *testing.T) {
	var p tap
	d := open(t, p.options(), zklock.Server(t).Addr)
	crowd := []driver.Claim{acquire(t, d, claim("job", long))}
	for len(crowd) < 50 {
		crowd = append(crowd, enqueue(t, d, claim("job", long)))
	}
	renew := func() (requests int) {
		p.counted()
		results, err := d.Renew(limit(t), crowd)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if r.Err != nil || r.Status.Granted != (i == 0) || r.Status.Contended != (i < len(crowd)-1) {
				t.Errorf("claim %d: %+v, %v", i, r.Status, r.Err)
			}
		}
		return p.counted()
	}
	renew() // which begins to watch the holder
	if got := renew(); got != 2 {
		t.Errorf("%d requests for the renewal of %d claims, want a heartbeat and a list", got, len(crowd))
	}
}
