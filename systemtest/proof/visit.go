package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/systemtest/history"
)

// newVisits are the visits of a step, one to each of its locks, before they begin.
func (v *visitor) newVisits(s Step) (visits []*Visit) {
	for _, lock := range s.locks() {
		visit := &Visit{Lock: lock, Together: s.Verb == All, Least: s.Least, Most: s.Most,
			Reuse: s.Reuse, Later: s.Later}
		visit.Visitor, visit.Units, visit.Try, visit.TTL = v.Visitor, s.Units, s.Verb == Try, cmp.Or(s.TTL, v.TTL)
		visits = append(visits, visit)
	}
	return visits
}

// visit is one attempt to get in, with what follows when it succeeds.
func (v *visitor) visit(s Step) {
	visits := v.newVisits(s)
	waiting, cancel := context.WithTimeout(context.Background(), max(s.Within, v.TTL/4))
	defer cancel()
	asks := now()
	for _, visit := range visits {
		visit.Call = asks
	}
	v.tell(told{Asks: visits})
	leases, err := v.acquire(waiting, s)
	answered := now()
	for i, visit := range visits {
		visit.Return = answered
		visit.note(leases[i], err, waiting)
	}
	if err == nil {
		v.tell(told{Inside: visits})
		if over := v.section(leases, visits, s); over {
			return
		}
		v.leave(leases, visits)
	}
	v.tell(told{Out: visits})
}

// note notes what an attempt was answered.
func (v *Visit) note(lease *holdfast.Lease, err error, waiting context.Context) {
	switch v.Outcome = outcome(err, waiting); {
	case v.Outcome == history.Got:
		v.Token = lease.Token()
	case v.Together && v.Outcome == history.Taken:
		v.Outcome = history.GaveUp // it may have had this lock until it was refused another
	}
	if errors.Is(err, holdfast.ErrDeadlock) {
		v.Odd = err.Error()
	}
}

// acquire asks for the locks of a step, and returns as many leases; without an error they are held.
func (v *visitor) acquire(ctx context.Context, s Step) (holdfast.Leases, error) {
	if s.Verb != All {
		lease, err := acquire(ctx, v.client, s)
		return holdfast.Leases{lease}, err
	}
	var locks []holdfast.Locker
	for _, lock := range s.locks() {
		locks = append(locks, v.client.Mutex(lock, s.options()...))
	}
	leases, err := holdfast.LockAll(ctx, locks...)
	if err != nil {
		leases = make(holdfast.Leases, len(locks))
	}
	return leases, err
}

// acquire asks for the units of a step in the way of the lock's kind.
func acquire(ctx context.Context, client *holdfast.Client, s Step) (*holdfast.Lease, error) {
	try, all := s.Verb == Try, s.Units == limit(s.Lock)
	switch {
	case s.Verb == Lead:
		return client.Election(s.Lock, s.options()...).Campaign(ctx, "a visitor")
	case s.Lock[0] == 'm':
		m := client.Mutex(s.Lock, s.options()...)
		return either(try, m.TryLock, m.Lock)(ctx)
	case s.Lock[0] == 'r':
		rw := client.RWMutex(s.Lock, s.options()...)
		if all {
			return either(try, rw.TryLock, rw.Lock)(ctx)
		}
		return either(try, rw.TryRLock, rw.RLock)(ctx)
	default:
		p := client.Semaphore(s.Lock, limit(s.Lock), s.options()...)
		return either(try, p.TryAcquire, p.Acquire)(ctx, s.Units)
	}
}

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

func outcome(err error, waiting context.Context) history.Outcome {
	switch {
	case err == nil:
		return history.Got
	case !errors.Is(err, holdfast.ErrNotAcquired):
		return history.Unknown
	case waiting.Err() != nil, errors.Is(err, holdfast.ErrBroken): // before that the claim may have been granted
		return history.GaveUp
	default:
		return history.Taken
	}
}

// section is what is done under the locks: it counts one on behind each, if nobody else can be inside, and looks at the
// leases all the time. over says that another process has gone on, and told the end of the visit.
func (v *visitor) section(leases holdfast.Leases, visits []*Visit, s Step) (over bool) {
	numbers := make([]Touch, len(visits))
	for i, visit := range visits {
		if visit.alone() {
			numbers[i] = v.touch(Touch{Visitor: v.Visitor, Lock: visit.Lock, Token: visit.Token})
		}
	}
	if s.Again {
		v.again(leases[0], visits[0], s)
	}
	if s.Pass {
		if !v.stay(leases, visits, s.Stays/2) {
			return false
		}
		s.Stays /= 2
		if v.passOn(leases[0], visits[0], s) {
			return true
		}
	}
	if !v.stay(leases, visits, s.Stays) {
		return false
	}
	for i, visit := range visits {
		if number := numbers[i]; visit.alone() && !number.Refused {
			number.Write = true
			number.Value++
			v.touch(number)
		}
	}
	return false
}

// alone reports whether nobody else can be inside with the visitor.
func (v *Visit) alone() bool { return v.Units == limit(v.Lock) }

// again acquires the lock that the visitor holds once more, and releases that.
func (v *visitor) again(lease *holdfast.Lease, visit *Visit, s Step) {
	ctx, cancel := context.WithTimeout(lease.Context(), v.TTL)
	defer cancel()
	inner, err := acquire(ctx, v.client, s)
	switch {
	case err == nil && inner.Token() != visit.Token:
		visit.Odd = fmt.Sprintf("acquired again it has token %d", inner.Token())
	case err == nil:
		err = inner.Release(ctx)
	}
	if err != nil && lease.Err() == nil {
		visit.Odd = fmt.Sprintf("acquired again, and released: %v", err)
	}
}

// stay reports whether the leases lived until the end.
func (v *visitor) stay(leases holdfast.Leases, visits []*Visit, stays time.Duration) bool {
	last := now()
	said := last
	for until := last + stays; ; {
		looked := now()
		if leases.Err() != nil && !v.Careless {
			return false
		}
		for _, visit := range visits {
			visit.Seen, visit.Gap = looked, max(visit.Gap, looked-last)
		}
		if last = looked; looked >= until {
			return true
		}
		if looked > said+v.TTL/20 { // so much is forgotten of who is killed
			said = looked
			v.tell(told{Inside: visits})
		}
		select {
		case <-leases[0].Revoked():
			visits[0].Revoked = true
			return true
		case <-time.After(time.Millisecond): // what a section does
		}
	}
}

func (v *visitor) leave(leases holdfast.Leases, visits []*Visit) {
	for i, visit := range visits {
		ctx, cancel := context.WithTimeout(context.Background(), v.TTL/4)
		visit.Leave = now()
		err := leases[i].Release(ctx)
		visit.Left = now()
		cancel()
		visit.Ended = ending(err)
	}
}

// ending says by what its end was answered how a lease ended.
func ending(err error) history.Ending {
	switch {
	case err == nil:
		return history.Released
	case errors.Is(err, holdfast.ErrLost):
		return history.Lost
	default:
		return history.Unclear
	}
}
