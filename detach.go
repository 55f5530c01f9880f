package holdfast

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Detach ends the lease in this client and leaves the lock held, for the TTL from now on, or for the rest of its
// [WithMinHold] if that is longer and the backend lets a claim live that long. It returns a handle, which names the
// lock, the claim and the token. With the handle any process can go on, by [Client.Resume], which takes over without a
// minimum hold. If none does, the lock is free when that time is over.
//
// An error that matches [errors.ErrUnsupported] says that the backend ends claims together with their client.
// ErrUnknown says that the backend did not answer: then the lease goes on, but its claim may live for that time from
// now on, even if this process ends. A lease that its context holds more than once cannot be detached.
func (l *Lease) Detach(ctx context.Context) (string, error) {
	if err := l.over(); err != nil {
		return "", err
	}
	g := l.grant
	g.lock.client.background.enter() // Close waits for it
	defer g.lock.client.background.leave()
	if err := g.detachable(); err != nil {
		return "", g.lock.failure("detach", err)
	}
	if err := g.hold.detach(ctx, g); err != nil {
		if lost := l.over(); lost != nil {
			err = joined{lost, err}
		}
		return "", err
	}
	return g.hold.handle(g).String(), nil
}

// detachable reports why a grant cannot be left alone.
func (g *grant) detachable() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !g.lock.client.traits.Detach:
		return errors.Join(errors.ErrUnsupported,
			errors.New("this backend ends a claim together with its client; keep the client open"))
	case len(g.leases) > 1:
		return errors.New("it is held more than once; release the inner leases first")
	default:
		return nil
	}
}

// detach leaves the claim alone, and ends the grant and the hold. When that fails the hold goes on,
// unless it is lost: the keeper looks after its deadline all the time.
func (h *hold) detach(ctx context.Context, g *grant) error {
	ctx, cancel := h.untilGivenBack(ctx)
	defer cancel()
	if !h.prepareToLeave() {
		return h.lock.failure("detach", errors.New("it is being detached already"))
	}
	defer h.doneLeaving()
	left := false
	defer func() {
		if !left { // also when the driver panicked
			h.lock.client.keeper.takeUp(&h.tracked)
		}
	}()
	if err := h.leaveAlone(ctx); err != nil {
		return err
	}
	leases, ended := g.end(ErrReleased)
	left = ended
	if !ended { // somebody else gives the claim back, or keeps it for its minimum hold
		return h.lock.failure("detach", errors.New("the lease ended meanwhile"))
	}
	return h.left(ctx, g, leases)
}

// prepareToLeave keeps the hold from going to anybody else, and reports whether that was not so before.
func (h *hold) prepareToLeave() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.leaving != nil {
		return false
	}
	h.leaving = make(chan struct{})
	return true
}

func (h *hold) doneLeaving() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.leaving)
	h.leaving = nil
}

// notLeaving waits until the hold is not being detached, whose request would undo what comes next. It is false when ctx
// ended before.
func (h *hold) notLeaving(ctx context.Context) bool {
	h.mu.Lock()
	leaving := h.leaving
	h.mu.Unlock()
	return leaving == nil || closesWithin(ctx, leaving)
}

// leaveAlone asks the backend to let the claim live for its time whatever becomes of this client.
func (h *hold) leaveAlone(ctx context.Context) error {
	if !h.settle(ctx) {
		return h.lock.failure("detach", ErrUnknown,
			errors.New("a renewal was not answered yet"), goesOn)
	}
	left := h.validUntil().sub(now())
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	h.alone.Store(true)
	_, _, err := h.lock.request(ctx, h.renewal().Claim, left)
	switch {
	case isGone(err):
		h.gone(err)
		return h.lock.failure("detach", err)
	case err != nil:
		return h.lock.failure("detach", ErrUnknown, err, goesOn)
	}
	return nil
}

// goesOn is what follows from a Detach that failed.
const goesOn = advice("the lease goes on until its deadline")

// left ends a hold whose claim is left alone and whose grant has ended.
func (h *hold) left(ctx context.Context, g *grant, leases []*Lease) (err error) {
	if _, ended := h.end(); !ended { // its deadline passed just now, so the claim is given back
		err = h.lostBefore(g)
	}
	h.lock.client.gates.left(h)
	for _, l := range leases {
		l.observeRelease(ctx, err)
	}
	return err
}

// handle is what goes on with the claim under the token of a grant.
func (h *hold) handle(g *grant) handle {
	c := h.claim
	return handle{Name: []byte(c.Name), ID: c.ID, Token: g.token, Weight: c.Weight, Limit: c.Limit, TTL: c.TTL}
}

// CheckHandle reports whether the claim of a handle still holds its lock, without renewing it. It returns the claim
// with the token of the lease, or a *LostError.
func (c *Client) CheckHandle(ctx context.Context, handle string) (Entry, error) {
	h, err := parseHandle(handle)
	if err != nil {
		return Entry{}, err
	}
	queue, err := c.Queue(ctx, string(h.Name))
	if err != nil {
		return Entry{}, err
	}
	for _, e := range queue {
		if e.ID == h.ID && e.Token>>tokenShift == h.Token>>tokenShift && e.Granted {
			e.Token = h.Token
			return e, nil
		}
	}
	return Entry{}, &LostError{Name: string(h.Name), Token: h.Token, Reason: LostGone}
}

// Resume goes on with a lock that was detached: see [Lease.Detach]. The lease has the token it had, and is renewed
// until it is released, lost, or detached again. Others go on to see the owner and the value that it was acquired with,
// so followers still find a leader that was restarted and resumes. A *LostError says that the lock is no longer held;
// ErrInvalidHandle, that handle is not a handle. Two clients that resume the same handle hold the lock together.
func (c *Client) Resume(ctx context.Context, handle string) (*Lease, error) {
	h, err := parseHandle(handle)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	l := c.lock(string(h.Name), []Option{WithTTL(h.TTL), WithMinHold(0), WithMaxHold(0)})
	resumed, err := l.resume(ctx, h, start)
	return l.told(ctx, h.ask(), resumed, start, err)
}

func (l *lock) resume(ctx context.Context, h handle, start time.Time) (*Lease, error) {
	c, claim := l.client, h.claim()
	if err := errors.Join(c.closed(), l.settings.check(), driver.Validate(claim, c.traits)); err != nil {
		return nil, l.failure("resume", err)
	}
	c.background.enter()
	defer c.background.leave()
	r := l.requestOften(ctx, claim, 0, l.settings.patienceAtFirst(true), 0)
	switch {
	case isGone(r.err), r.err == nil && !r.Granted:
		return nil, &LostError{Name: l.name, Token: h.Token, Reason: LostGone, Err: r.err}
	case r.err == nil:
	case driver.IsAnswer(r.err):
		return nil, l.failure("resume", r.err)
	case isUnsent(r.err) && r.lost == 0:
		return nil, l.unsent(ctx, "resume", r.err)
	default:
		return nil, l.unknown(ctx, "resume", r.err)
	}
	hold := l.emptyHold(h.ask(), r.Status)
	hold.resumed = true
	hold.tracked.init(hold, claim, r.Status, r.sent)
	c.keeper.add(&hold.tracked)
	return c.hand(ctx, hold.grant(l, int(h.Token&maxHandoff)), start)
}

// ErrInvalidHandle says that a string is not a handle that [Lease.Detach] returned.
var ErrInvalidHandle = errors.New("this is not the handle of a lock")

// A handle is what another process needs to go on with a lock that this one holds. It says nothing of the backend, so
// it holds no password.
type handle struct {
	Name   []byte        `json:"name"` // any bytes
	ID     string        `json:"claim"`
	Token  uint64        `json:"token,string"` // of the lease: the driver's, and the count of local hand-offs
	Weight int64         `json:"weight"`
	Limit  int64         `json:"limit"`
	TTL    time.Duration `json:"ttl"`
}

// handleForm is how the text of a handle begins. The number is the version of what follows.
const handleForm = "hf1."

func (h handle) String() string {
	text, _ := json.Marshal(h) // of such fields it cannot fail
	return handleForm + base64.RawURLEncoding.EncodeToString(text)
}

func parseHandle(s string) (h handle, err error) {
	text, ok := strings.CutPrefix(s, handleForm)
	if !ok {
		return h, fmt.Errorf("%w: it should begin with %q; "+
			"pass what Detach, or holdfast acquire, returned", ErrInvalidHandle, handleForm)
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &h)
	}
	if err != nil || h.ID == "" || h.claim().Token == 0 { // without one it would ask for a new claim
		return h, fmt.Errorf("%w: it is damaged; pass all that Detach, or holdfast acquire, returned", ErrInvalidHandle)
	}
	return h, nil
}

// claim is the claim that the handle is of. It lives by its TTL alone, whoever renews it: as all who resume it ask for
// the same, a copy of a request that comes late never shortens what another's has given it.
func (h handle) claim() driver.Claim {
	return driver.Claim{
		Name: string(h.Name), ID: h.ID, Weight: h.Weight, Limit: h.Limit,
		TTL: h.TTL, Queue: true, Token: h.Token >> tokenShift, Detached: true,
	}
}

// ask is what the claim was made for, as far as the queue tells.
func (h handle) ask() ask {
	switch {
	case h.Weight == 1 && h.Limit == driver.All:
		return reader
	case h.Weight == driver.All:
		return writer
	case h.Limit == 1:
		return alone
	default:
		return ask{kind: "semaphore", mode: permits, weight: h.Weight, limit: h.Limit}
	}
}
