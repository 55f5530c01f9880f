package leased

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A claimID tells claims apart.
type claimID struct{ name, id string }

func idOf(c driver.Claim) claimID { return claimID{c.Name, c.ID} }

// A Claim is what a client knows of a claim that it requested. It exists from before the first request is sent
// until the claim has ended, and a while longer where the server may not remember the end. Drivers embed it in a
// type of their own and call Begin before anybody else sees it. All methods are safe for concurrent use.
type Claim struct {
	Name, ID string

	expired func() // is called, in a goroutine of its own, when nobody renewed the claim in time
	ended   func() // is called once when the claim is over; may be nil
	over    chan struct{}
	news    chan struct{} // has an element when what the claim waits for has changed
	waiting chan struct{} // holds an element while one wait goes on

	mu      sync.Mutex
	timer   *time.Timer // calls expire; once the claim is over, forgets it
	ttl     time.Duration
	longest time.Duration // the longest TTL that it had
	renewed Instant       // when the newest request was sent that was answered
	until   Instant
	leaving bool // it was not renewed in time, and is being taken out of the queue

	token uint64 // zero until a request was answered
	doubt bool   // a request was sent whose outcome is not known

	granted bool
	bounds  Bounds // of the claim and those ahead when it was granted; zero until they are known
	revoked bool
	behind  bool // others were behind it at the last look that told
	verdict Verdict
	read    int64 // revision of the newest reading

	readBehind int64 // revision of the newest that told who is behind
}

// Begin makes the claim live for ttl from now on. When nobody renews it in time, expired is called in a goroutine of
// its own. Once the claim is over, ended is called, unless it is nil.
func (c *Claim) Begin(of driver.Claim, ttl time.Duration, expired, ended func()) {
	c.mu.Lock() // for the timer, which may fire at once on a machine that was paused
	defer c.mu.Unlock()
	c.Name, c.ID, c.expired, c.ended = of.Name, of.ID, expired, ended
	c.over, c.news, c.waiting = make(chan struct{}), make(chan struct{}, 1), make(chan struct{}, 1)
	c.ttl, c.longest, c.renewed = ttl, ttl, Now()
	c.until = c.renewed.Add(ttl)
	c.timer = time.AfterFunc(ttl, c.expire)
}

func (c *Claim) core() *Claim { return c }

// End notes that the claim is over.
func (c *Claim) End() {
	if c.end() && c.ended != nil {
		c.ended()
	}
}

// end reports whether the claim was not over before.
func (c *Claim) end() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.IsOver() {
		return false
	}
	close(c.over)
	c.timer.Stop()
	return true
}

// Over is closed when the claim is over.
func (c *Claim) Over() <-chan struct{} { return c.over }

// IsOver reports whether the claim is over.
func (c *Claim) IsOver() bool { return IsClosed(c.over) }

// Token is the claim's token; zero until a request was answered.
func (c *Claim) Token() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.token
}

// Answered notes the token that the server answered with. It never changes.
func (c *Claim) Answered(token uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = token
}

// Doubt notes that a request may or may not have been applied.
func (c *Claim) Doubt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doubt = true
}

// InDoubt reports whether a request was sent whose outcome is not known.
func (c *Claim) InDoubt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.doubt
}

// Alone calls wait when no other call of wait goes on for this claim, or returns the error of ctx.
func (c *Claim) Alone(ctx context.Context, wait func(context.Context) (driver.Status, error)) (driver.Status, error) {
	select {
	case c.waiting <- struct{}{}:
		defer func() { <-c.waiting }()
		return wait(ctx)
	case <-ctx.Done():
		return driver.Status{}, ctx.Err()
	}
}

// IsClosed reports whether a channel is closed that nothing is ever sent on.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
