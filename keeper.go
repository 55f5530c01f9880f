package holdfast

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/internal/boottime"
)

// tracked is a claim, waiting or granted, that the keeper keeps alive, or at least looks after: whose deadline it sees.
type tracked struct {
	owner claimOwner
	claim driver.Claim // with its token, once it has one
	ttl   atomic.Int64 // what the backend granted last
	until atomic.Int64 // the instant of the deadline
	alone atomic.Bool  // a request to leave it alone was sent: see hold.renewal

	// Guarded by the keeper's lock.
	due      instant      // when the keeper has to do something about it: renew it, or call it expired
	asking   bool         // a renewal is under way
	confirms int          // so many requests of others for it are under way
	hurried  bool         // somebody wants to know more than any request under way can tell
	unasked  bool         // it is not renewed: what its owner sends now must be the last that arrives
	index    int          // in the heap; untracked when not there
	asked    instant      // when the last renewal was due to be sent; zero: there was none
	sent     *batch.Group // the renewals that were sent with this one; nil while none is under way
	place    int          // among these
	err      error        // why the last renewal failed, and what the server said before; nil if it succeeded
}

// claimOwner is who says how a claim is renewed, and learns what became of it. What learns is called by one goroutine
// after the other; none may block or call what others wrote, and all are called without the keeper's lock: the
// deadlines of all other claims wait for them.
type claimOwner interface {
	renewal() driver.Op                     // the claim as it is requested from now on; by any goroutine
	renewed(st driver.Status, sent instant) // a renewal that was sent then was answered
	gone(error)                             // the backend no longer has the claim; the keeper has let go of it
	expired()                               // the deadline passed; the keeper has let go of it
}

const untracked = -1

func (c *tracked) init(owner claimOwner, claim driver.Claim, st driver.Status, sent instant) {
	c.owner, c.claim, c.index = owner, claim, untracked
	c.claim.Token = st.Token
	c.extend(sent, st.TTL)
}

// validUntil is the instant up to which the claim is known to be alive.
func (c *tracked) validUntil() instant { return instant(c.until.Load()) }

// extend notes that a request sent at this instant was answered with this TTL. A claim that may be left alone for
// longer than its TTL is trusted for that, and renewed as often as others, so that its loss shows as soon.
func (c *tracked) extend(sent instant, ttl time.Duration) {
	if c.alone.Load() {
		ttl = min(ttl, c.claim.TTL)
	}
	c.ttl.Store(int64(ttl))
	c.until.Store(max(c.until.Load(), int64(trustedUntil(sent, ttl))))
	c.due = sent.add(ttl / renewAfter)
}

func (c *tracked) grantedTTL() time.Duration { return time.Duration(c.ttl.Load()) }

// attempt is how long a renewal may take.
func (c *tracked) attempt() time.Duration { return attemptLimit(c.claim.TTL) }

// A keeper renews all claims of a client, in batches, and notices when one could not be renewed in time. One goroutine
// looks after the time while there is anything to keep, and the Sender sends the renewals. It waits for nothing but its
// alarm, which goes off after a suspension of the machine, too. So leases end in time whatever the backend, the network
// and the handlers of others do.
type keeper struct {
	client *Client

	mu     sync.Mutex
	claims dueHeap
	alarm  boottime.Alarm // of run; nil while that does not run
	next   instant        // when run looks again
	rounds []round        // see roundOf
	failed uint64         // renewals that were not answered
	early  instant        // the last renewal that was brought forward: see renewSoon
}

// A round has the claims whose renewals are due and may take about as long. Those that are sent together have the time
// of the claim that has the least. So no claim has less than half of the time that it would have alone, and none waits
// behind requests that may hang for more than twice as long.
type round struct {
	due      []*tracked // not yet sent
	underWay int        // renewals that are not answered
}

// roundOf is the place of the round for renewals that may take so long.
func roundOf(attempt time.Duration) int { return bits.Len64(uint64(attempt/leastAttempt)) - 1 }

// Bounds of the keeper's work.
const (
	batchWindow  = 25 * time.Millisecond // claims due within this time go together
	batchSize    = 512
	mostUnderWay = 3 * batchSize // renewals of a round
)

func newKeeper(c *Client) *keeper {
	return &keeper{client: c, rounds: make([]round, roundOf(mostAttempt)+1)}
}

// add begins to keep a claim alive.
func (k *keeper) add(c *tracked) {
	k.mu.Lock()
	defer k.mu.Unlock()
	heap.Push(&k.claims, c)
	k.look(c.due)
}

// remove ends it. A renewal that is under way is given up, because the next operation on the claim waits for its end.
func (k *keeper) remove(c *tracked) {
	k.mu.Lock()
	k.drop(c)
	sent, place := c.sent, c.place
	k.mu.Unlock()
	if sent != nil {
		sent.GiveUp(place)
	}
}

func (k *keeper) drop(c *tracked) bool {
	if c.index == untracked {
		return false
	}
	heap.Remove(&k.claims, c.index)
	return true
}

// leaveAlone ends the renewals of a claim, and looks after its deadline alone. It is false while a request is under way
// that could arrive after whatever comes next.
func (k *keeper) leaveAlone(c *tracked) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.index == untracked || c.asking || c.confirms > 0 {
		return false
	}
	c.unasked = true
	k.schedule(c, c.nextDue())
	return true
}

// takeUp renews a claim again that was left alone.
func (k *keeper) takeUp(c *tracked) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c.unasked = false
	k.hurryUp(c)
}

// confirm counts a request for the claim that is not the keeper's. It is false when none may be sent.
func (k *keeper) confirm(c *tracked) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.index == untracked || c.unasked {
		return false
	}
	c.confirms++
	return true
}

// confirmed notes the answer to such a request.
func (k *keeper) confirmed(c *tracked, a batch.Answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c.confirms--
	if a.Err == nil && c.index != untracked {
		c.err = nil
		c.extend(instant(a.Sent), a.Status.TTL)
		k.schedule(c, c.nextDue())
	}
}

// keep notes the answer to a request of the claim's owner, and begins to keep the claim again if its deadline had
// passed.
func (k *keeper) keep(c *tracked, sent instant, ttl time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c.err = nil
	c.extend(sent, ttl)
	if c.index == untracked {
		heap.Push(&k.claims, c)
	}
	k.schedule(c, c.nextDue())
}

// succeed keeps heir in place of a claim that waited: it is alive for as long. Where a renewal of that one is under
// way, whose answer nobody will look at any more, the heir's is due at once.
func (k *keeper) succeed(heir, waited *tracked) {
	k.mu.Lock()
	defer k.mu.Unlock()
	due := waited.due
	if wasKept := k.drop(waited); !wasKept || waited.asking {
		due = now()
	}
	heir.ttl.Store(waited.ttl.Load())
	heir.until.Store(waited.until.Load())
	heap.Push(&k.claims, heir)
	k.schedule(heir, due)
}

// nextDue is when to look at a claim that was just extended.
func (c *tracked) nextDue() instant {
	switch {
	case c.asking || c.unasked:
		return c.validUntil()
	case c.hurried:
		return now()
	default:
		return c.due
	}
}

// hurry renews a claim now, or once more when a renewal is under way: that one, like a request of others, may have been
// answered before whatever there is to learn.
func (k *keeper) hurry(c *tracked) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hurryUp(c)
}

// Renewals that are brought forward because somebody wants to be told of the claim's end. Most locks that are held
// briefly are released before the delay is over, and cost no renewal. Those of many claims keep a distance, so that the
// renewals which keep claims alive need not wait for them.
const (
	earlyDelay    = 20 * time.Millisecond
	earlyDistance = time.Millisecond
)

// renewSoon brings the next renewal of a claim forward, or has one follow that is under way.
func (k *keeper) renewSoon(c *tracked) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch at := max(now().add(earlyDelay), k.early.add(earlyDistance)); {
	case c.index == untracked || c.unasked:
	case c.asking:
		c.hurried = true
	case at < c.due:
		k.early = at
		k.schedule(c, at)
	}
}

// hurryUp is hurry for who holds k.mu. A claim that is being asked for is never scheduled for now: nothing would be due
// then, and the alarm would go off again and again.
func (k *keeper) hurryUp(c *tracked) {
	if c.index == untracked || c.unasked {
		return
	}
	if c.hurried = true; !c.asking {
		k.schedule(c, now())
	}
}

// holds returns the granted claims that are kept.
func (k *keeper) holds() []*hold {
	k.mu.Lock()
	defer k.mu.Unlock()
	var hs []*hold
	for _, c := range k.claims {
		if h, ok := c.owner.(*hold); ok {
			hs = append(hs, h)
		}
	}
	return hs
}

// stop lets go of everything.
func (k *keeper) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.claims) > 0 {
		heap.Pop(&k.claims)
	}
	if k.alarm != nil {
		k.look(now())
	}
}

// schedule sets when to do something about a claim. k.mu is held.
func (k *keeper) schedule(c *tracked, due instant) {
	c.due = due
	heap.Fix(&k.claims, c.index)
	k.look(due)
}

// look makes sure that run looks at the claims at this instant. k.mu is held.
func (k *keeper) look(at instant) {
	switch {
	case k.alarm == nil:
		k.alarm = boottime.NewAlarm()
		go k.run(k.alarm)
	case at >= k.next:
		return
	}
	k.next = at
	k.alarm.Set(at.sub(now()))
}

// run looks after the time until it finds that nothing is kept any more. It does not look before it must: most locks
// are held briefly, and would make it begin and end each time.
func (k *keeper) run(alarm boottime.Alarm) {
	defer alarm.Close()
	for over, ok := []*tracked(nil), true; ok; {
		alarm.Wait()
		over, ok = k.collect()
		k.send()
		for _, c := range over {
			c.owner.expired()
		}
	}
}

// collect finds the renewals that are due, for send. It returns the claims whose deadline has passed, and whether there
// is anything more to look after.
func (k *keeper) collect() (over []*tracked, more bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := now()
	for len(k.claims) > 0 && k.claims[0].isDue(t) {
		c := k.claims[0]
		if c.validUntil() <= t {
			heap.Pop(&k.claims)
			over = append(over, c)
			continue
		}
		r := &k.rounds[roundOf(c.attempt())]
		r.due = append(r.due, c)
		c.asking, c.hurried, c.asked = true, false, t
		c.due = c.nextDue()
		heap.Fix(&k.claims, 0)
	}
	return over, k.sleep(t)
}

// renewalError is why the last renewal failed; nil if it succeeded, or is under way after one that did.
func (k *keeper) renewalError(c *tracked) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return c.err
}

// whyExpired is why a claim was not renewed before its deadline, as far as this process knows.
func (k *keeper) whyExpired(c *tracked) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case c.err != nil:
		return c.err
	case c.unasked:
		return nil
	case c.asking:
		return fmt.Errorf("the renewal begun at %s was not answered", c.asked.time().Format(time.TimeOnly))
	case c.due < c.validUntil():
		return errPaused
	default:
		return nil
	}
}

// errPaused is why a claim expires of which no renewal failed.
var errPaused = errors.New("no renewal was sent in time: this process, or its machine, was paused")

// isDue reports whether a claim has to be renewed about now, or its deadline has passed.
func (c *tracked) isDue(t instant) bool {
	return c.validUntil() <= t || !c.asking && !c.unasked && c.due <= t.add(batchWindow)
}

// sleep sets the alarm for what is due next, and is false when nothing is: then run ends. k.mu is held.
func (k *keeper) sleep(t instant) bool {
	if len(k.claims) == 0 {
		k.alarm = nil
		return false
	}
	k.next = k.claims[0].due
	k.alarm.Set(k.next.sub(t))
	return true
}

// send sends what is due, as far as there is room for more under way.
func (k *keeper) send() {
	for r, claims := k.take(); r != nil; r, claims = k.take() {
		k.renew(r, claims)
	}
}

// take takes the claims that are renewed next, of one round. There are none while enough is under way.
func (k *keeper) take() (r *round, claims []*tracked) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.rounds {
		r = &k.rounds[i]
		if n := min(len(r.due), batchSize); n > 0 && r.underWay+batchSize <= mostUnderWay {
			claims, r.due = r.due[:n:n], r.due[n:]
			r.underWay += n
			return r, claims
		}
	}
	return nil, nil
}

// renew sends the renewals of some claims of a round, and tells each claim's owner what came of it.
func (k *keeper) renew(of *round, claims []*tracked) {
	ops, limit := make([]driver.Op, len(claims)), mostAttempt
	for i, c := range claims {
		ops[i] = c.owner.renewal()
		ops[i].Brief = true
		limit = min(limit, c.attempt())
	}
	since := now()
	sent := k.client.sender.Go(k.client.lifetime, ops, limit, func(i int, a batch.Answer) {
		r := a.Result
		r.Err = unansweredWithin(since, limit, k.client.rescuedFrom(r.Err))
		k.settle(claims[i], instant(a.Sent), r)
		k.answered(of)
		k.send()
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, c := range claims {
		if c.asking {
			c.sent, c.place = sent, i
		}
	}
}

// answered counts a renewal of a round that is not under way any more.
func (k *keeper) answered(of *round) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of.underWay--
}

// unansweredWithin says so of an error that is there because a limit has passed.
func unansweredWithin(since instant, limit time.Duration, err error) error {
	timedOut := errors.Is(err, context.DeadlineExceeded) && now().sub(since) >= limit
	switch {
	case timedOut && (isBare(err) || err.Error() == bareUnsent):
		return &silentError{limit}
	case !timedOut || isServerError(err) || isUnsent(err):
		return err
	default:
		return fmt.Errorf("no answer within %v: %w", limit, err)
	}
}

// bareUnsent is what an error says of a renewal that was not sent, because another request for the claim was not
// answered in time, and nothing else is known.
var bareUnsent = fmt.Sprintf("%v: %v", driver.ErrUnsent, context.DeadlineExceeded)

// A silentError is a context.DeadlineExceeded of a request that was sent, in words for people: what Redis answers while
// a script runs, for one, comes after 5 s, which a short TTL does not wait for.
type silentError struct{ limit time.Duration }

func (e *silentError) Error() string {
	return fmt.Sprintf("no answer within %v: the server is busy or hangs, or the network is cut", e.limit)
}

func (e *silentError) Unwrap() error { return context.DeadlineExceeded }

// settle notes the answer for one claim.
func (k *keeper) settle(c *tracked, sent instant, r driver.Result) {
	if !k.note(c, sent, &r) {
		return
	}
	switch {
	case r.Err == nil:
		c.owner.renewed(r.Status, sent)
	case isGone(r.Err):
		c.owner.gone(r.Err)
	default:
		k.client.warn(k.client.settings.logger, "holdfast: renewing a claim failed",
			"lock", c.claim.Name, "backend", k.client.label, "error", r.Err,
			"ends_in", c.validUntil().sub(now()).Round(time.Millisecond))
	}
}

// note does so under the lock; it is false when the claim is no longer kept. A failed renewal changes nothing until the
// deadline but the time of the next. An answer that the claim is gone gets the reason added: see goneFor.
func (k *keeper) note(c *tracked, sent instant, r *driver.Result) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	c.asking, c.sent = false, nil // also of one that is not kept: it may be once more
	if c.index == untracked {
		return false
	}
	if isGone(r.Err) {
		r.Err = c.goneFor(r.Err)
	}
	c.err = withServersWords(c.err, r.Err)
	switch {
	case r.Err == nil:
		c.extend(sent, r.Status.TTL)
		k.schedule(c, c.nextDue())
	case isGone(r.Err):
		k.drop(c)
	default:
		k.failed++
		k.schedule(c, min(now().add(c.grantedTTL()/retryAfter), c.validUntil()))
	}
	return true
}

// whyGone is goneFor for callers without k.mu.
func (k *keeper) whyGone(c *tracked, answer error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return c.goneFor(answer)
}

// goneFor is the answer that a claim is gone, with the error of the last renewal if that failed. What made it fail,
// such as a server that was restarted without its data, is then the likely reason. The keeper's lock is held.
func (c *tracked) goneFor(answer error) error {
	if c.err == nil || isGone(c.err) {
		return answer
	}
	return fmt.Errorf("%w, after a renewal had failed: %w", answer, c.err)
}

// A dueHeap has the claim that is due first on top.
type dueHeap []*tracked

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].due < h[j].due }

func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *dueHeap) Push(x any) {
	c := x.(*tracked)
	c.index = len(*h)
	*h = append(*h, c)
}

func (h *dueHeap) Pop() any {
	old := *h
	c := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	c.index = untracked
	return c
}
