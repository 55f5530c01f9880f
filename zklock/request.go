package zklock

import (
	"context"
	"errors"
	"path"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// The steps of Request are those of etcdlock, because the contract names them. What each step means differs.

// request queues or renews a claim, as [driver.OpRequest] says.
func (d *Driver) request(ctx context.Context, c driver.Claim) (driver.Status, error) {
	if err := d.validate(ctx, c); err != nil {
		return driver.Status{}, err
	}
	if e := d.claims.Known(c); e != nil {
		return d.repeat(ctx, e, c)
	}
	if c.Token != 0 {
		return driver.Status{}, driver.ErrGone // it is none of this client's, or not any more
	}
	return d.first(ctx, c)
}

// repeat requests a claim that this client requested before.
func (d *Driver) repeat(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	switch {
	case e.isGone():
		return driver.Status{}, e.goneError()
	case c.Token != 0 && c.Token != e.Token():
		return driver.Status{}, driver.ErrGone
	case e.place() == "":
		return d.put(ctx, e, c)
	default:
		return d.stayOrGo(ctx, e, c)
	}
}

// stayOrGo renews a claim. One that would not wait leaves unless it is granted.
func (d *Driver) stayOrGo(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	st, err := d.renew(ctx, e, c)
	if err != nil || st.Granted || c.Queue {
		return st, err
	}
	return driver.Status{}, d.withdraw(ctx, e)
}

// first requests a claim for the first time. The session may turn out to be gone, because nobody used it for a
// while. Then nothing was queued, and a new session takes its place.
func (d *Driver) first(ctx context.Context, c driver.Claim) (driver.Status, error) {
	for {
		places := d.placesOf(c)
		s, err := d.sessionFor(ctx, c.TTL, places...)
		if err != nil {
			return driver.Status{}, err
		}
		if !c.Queue {
			if taken, err := d.isTaken(ctx, s, c); taken || err != nil && !errors.Is(err, errSessionLost) {
				s.room.give(places[0].key, places[1].key)
				return driver.Status{}, err
			}
		}
		e := d.enter(c, s)
		st, err := d.put(ctx, e, c)
		if !errors.Is(err, errSessionLost) {
			return st, err
		}
		d.claims.Forget(e)
	}
}

// put sends the first request of a claim, perhaps not for the first time. It makes the claim's note, of which
// there must be none, and its node at the end of the queue, both or neither. Then it looks at the queue, unless the
// answer tells that nobody else is in it.
func (d *Driver) put(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	from, asked := leased.Now(), e.maybeQueued()
	made, err := d.enqueue(ctx, e, c)
	switch {
	case err == nil:
		return d.queued(ctx, e, c, made, from)
	case errors.Is(err, zk.ErrNodeExists):
		st, err := d.found(ctx, e, c)
		return st, unsure(err)
	case errors.Is(err, errSessionLost) && asked:
		e.rememberEnd() // it may have been queued, and ended with the session
		return driver.Status{}, e.goneError()
	case errors.Is(err, errSessionLost):
		return driver.Status{}, err
	default:
		return driver.Status{}, d.unanswered(e, asked, err)
	}
}

// unanswered notes what an error says about a claim that it came for in place of an answer. asked says that the claim
// was requested before.
func (d *Driver) unanswered(e *claim, asked bool, err error) error {
	if isRefused(err) || errors.Is(err, driver.ErrUnsent) && !asked {
		d.forgetAll(e)
	} else {
		e.Doubt()
	}
	return err
}

// enqueue makes the note and the node, and the parents that are missing. It returns what came of the steps of entry.
func (d *Driver) enqueue(ctx context.Context, e *claim, c driver.Claim) ([]zk.MultiResponse, error) {
	for steps := e.entry(c); ; {
		made, failed, err := e.s.multi(ctx, steps...)
		switch {
		case err == nil:
			return made, nil
		case failed == countStep && isRefused(err): // somebody has changed the ACL of the queue
			steps = steps[:countStep]
			continue
		case !isNoNode(err):
			return nil, err
		}
		err = together(
			func() error { return e.s.makeParent(ctx, path.Dir(e.note)) },
			func() error { return e.s.makeParent(ctx, e.queue) })
		if err != nil {
			return nil, err
		}
	}
}

// The steps that queue a claim.
const (
	noteStep  = iota // makes its note
	nodeStep         // makes its node
	countStep        // writes nothing to the queue's node, because the answer tells how many children that has
	entrySteps
)

// entry returns the steps that queue a claim. The last is left out where the node of the queue may have data of others.
func (e *claim) entry(c driver.Claim) []any {
	at := e.queue + "/" + e.d.node(c, e.s.ttl)
	steps := []any{
		noteStep: &zk.CreateRequest{Path: e.note, Data: encode(e.record), Acl: e.d.acl, Flags: zk.FlagEphemeral},
		nodeStep: &zk.CreateRequest{Path: at, Data: []byte(c.Owner), Acl: e.d.acl, Flags: zk.FlagEphemeralSequential},
	}
	if e.d.keys.ownsQueues() {
		steps = append(steps, &zk.SetDataRequest{Path: e.queue, Version: -1})
	}
	return steps
}

// queued answers about a claim that was just queued, by a request that was sent at this instant, from what came of the
// steps of entry. A claim that cannot be judged leaves, and one that would not wait unless it is granted.
func (d *Driver) queued(
	ctx context.Context, e *claim, c driver.Claim, made []zk.MultiResponse, from leased.Instant,
) (driver.Status, error) {
	e.placed(path.Base(made[nodeStep].String))
	if !e.Live(e.s.sure(e.s.ttl, from), from) {
		return driver.Status{}, driver.ErrGone // its time has come, and it is being taken out of the queue
	}
	if e.isFirst(made) {
		return e.Status(), nil
	}
	var st driver.Status
	err := together(
		func() error { return e.watchSelf(ctx) },
		func() (err error) { st, err = e.look(ctx); return err })
	switch {
	case isRefused(err):
		if err := d.withdraw(ctx, e); err != nil {
			return driver.Status{}, err
		}
		return driver.Status{}, err
	case err != nil:
		return driver.Status{}, unsure(err)
	case !st.Granted && !c.Queue:
		return driver.Status{}, d.withdraw(ctx, e)
	}
	return e.Status(), nil // with the token, which the look may not have known
}

// isFirst reports whether what came of the steps of entry tells that the claim was alone in its queue. Then it is
// granted, and its token is the number of the change, which all nodes have that the change has made or written. Its
// own node is not watched before somebody wants to know what happens to it, or it is renewed.
func (e *claim) isFirst(made []zk.MultiResponse) bool {
	if len(made) < entrySteps || made[countStep].Stat == nil || made[countStep].Stat.NumChildren != 1 {
		return false
	}
	own, ok := parse(path.Base(made[nodeStep].String))
	if !ok || !e.settle([]seat{own}, false).Granted {
		return false
	}
	e.Answered(uint64(made[countStep].Stat.Mzxid))
	return true
}

// errElsewhere is no answer: the claim ends with a session that this client does not keep, and a later request may
// queue it again.
var errElsewhere = errors.New("the claim is queued by a session that this client has lost, or by another client; " +
	"it can be queued again when that session has ended")

// found answers about a claim whose note was there already: an earlier attempt made it, or it has ended.
func (d *Driver) found(ctx context.Context, e *claim, c driver.Claim) (driver.Status, error) {
	f, err := d.find(ctx, e.s, c)
	switch {
	case err != nil:
		return driver.Status{}, err
	case f.note.stat != nil && f.note.stat.EphemeralOwner != e.s.id:
		d.forgetAll(e)
		if !f.alive() {
			return driver.Status{}, driver.ErrGone
		}
		return driver.Status{}, errElsewhere
	case !f.alive():
		d.forgetButNote(e)
		return driver.Status{}, driver.ErrGone
	default:
		e.placed(f.seat.node)
		return d.stayOrGo(ctx, e, c)
	}
}

// withdraw takes out a claim that leaves no trace.
func (d *Driver) withdraw(ctx context.Context, e *claim) error {
	if err := e.s.delete(ctx, e.place(), e.note); err != nil {
		return undecided(err)
	}
	d.forgetAll(e)
	return nil
}

// isTaken reports whether a claim that would not wait is not granted, without queueing it: so nobody has to wait
// behind it, and a lock that is taken costs no writes. What changes afterwards is found when the claim is queued.
func (d *Driver) isTaken(ctx context.Context, s *session, c driver.Claim) (bool, error) {
	if err := s.sync(ctx); err != nil {
		return false, err
	}
	var known bool
	var ahead []seat
	err := together(
		func() (err error) { known, err = s.exists(ctx, d.keys.note(c.Name, c.ID)); return err },
		func() (err error) { ahead, err = s.seats(ctx, d.keys.queue(c.Name)); return err })
	if err != nil || known {
		return false, err
	}
	if err := d.checkFormats(ahead); err != nil {
		return false, err
	}
	return !boundsOf(ahead).Add(leased.Seat{Weight: c.Weight, Limit: c.Limit}).Fit(), nil
}

func (s *session) exists(ctx context.Context, path string) (bool, error) {
	return ask(ctx, s, func(c *zk.Conn) (bool, error) {
		ok, _, err := c.Exists(path)
		return ok, err
	})
}

// seats reads a queue, oldest first. Who judges a claim in it checks the formats of that and of those ahead: what is
// behind does not matter.
func (s *session) seats(ctx context.Context, queue string) ([]seat, error) {
	children, err := s.children(ctx, queue)
	if err != nil {
		return nil, err
	}
	return seatsAmong(children), nil
}
