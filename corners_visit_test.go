package holdfast

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
)

// forever is longer than any run.
const forever = 1000 * time.Hour

// A ward is a lock that is visited, and what is asked of it.
type ward struct {
	name string
	ask  ask
}

var wards = map[string]ward{
	"mutex":   {"m", alone},
	"writer":  {"rw", writer},
	"reader":  {"rw", reader},
	"permits": {"s", ask{kind: "semaphore", mode: permits, weight: 2, limit: 5}},
}

// wardNames are the names of locks that are visited, each once.
func wardNames() []string { return []string{"m", "rw", "s"} }

// visit does what a visitor does.
func (w *world) visit(who string, v visit) {
	time.Sleep(v.at)
	c, ask := w.client(v.client), wards[v.lock].ask
	l := c.lock(wards[v.lock].name, v.options())
	called, handle := w.history.since(), ""
	stay := func(inside context.Context, lease *Lease) error {
		handle = w.stay(w.enter(who, c, lease, inside, v.stay.view, called), v.stay)
		return nil
	}
	if v.do {
		ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(v.patience, forever))
		defer cancel()
		w.do(call{who: who, what: "do " + v.lock}, func(context.Context) error { return l.do(ctx, ask, stay) })
	} else if lease := w.acquire(who, &l, v); lease != nil {
		stay(nil, lease)
	}
	w.resume(who, handle, v.resumes)
}

func (v visit) options() []Option {
	s := v.settings
	o := []Option{WithLocalHandoff(s.handoff), WithMinHold(s.minHold), WithMaxHold(s.maxHold), WithReuse(s.reuse)}
	if v.settings.reentrant {
		o = append(o, WithReentrant())
	}
	if v.settings.asyncRelease {
		o = append(o, WithAsyncRelease())
	}
	return o
}

// acquire returns the lease, or nil.
func (w *world) acquire(who string, l *lock, v visit) (lease *Lease) {
	c := call{who: who, what: "lock " + v.lock, limit: v.patience}
	if v.try {
		c.what, c.bound = "try "+v.lock, 2*w.plan.ttl+time.Second
	}
	w.do(c, func(ctx context.Context) (err error) {
		lease, err = l.acquire(ctx, wards[v.lock].ask, !v.try)
		return err
	})
	return lease
}

// enter shows the judge a lease.
func (w *world) enter(
	who string, c *Client, lease *Lease, inside context.Context, view view, called time.Duration,
) *tenure {
	t := &tenure{judge: w.judge, who: who, client: c, lease: lease, looks: view.ways(lease, inside)}
	t.called, t.entered = called, w.history.since()
	t.key, t.resumed = tenureKey{lease.grant.hold.claim.ID, lease.Token()}, lease.grant.hold.resumed
	t.again = lease != &lease.grant.first
	w.judge.enter(t)
	return t
}

// stay does what a holder does, and returns the handle if it left the lock for others to go on with.
func (w *world) stay(t *tenure, s sojourn) (handle string) {
	for _, step := range s.steps {
		time.Sleep(step.after)
		w.judge.look(t)
		if t.held() == "" {
			w.history.note(t.who, "finds that it is over: %v", t.lease.Err())
			break
		}
		switch step.what {
		case "check":
			w.do(call{who: t.who, what: "check", limit: w.plan.ttl / 4}, t.lease.Check)
		case "again":
			w.again(t)
		}
	}
	return w.leave(t, s)
}

// again acquires what the holder has.
func (w *world) again(t *tenure) {
	g := t.lease.grant
	if g.ask.mode == permits || t.resumed {
		return
	}
	called := w.history.since()
	var inner *Lease
	c := call{who: t.who, what: "lock again", base: t.lease.Context(), limit: w.plan.ttl}
	err := w.do(c, func(ctx context.Context) (err error) {
		inner, err = g.lock.acquire(ctx, g.ask, true)
		return err
	})
	switch {
	case err == nil:
		u := w.enter(t.who+" again", t.client, inner, nil, byErr, called)
		time.Sleep(w.plan.ttl / 50)
		w.release(u, 4*w.plan.ttl)
	case !g.lock.settings.reentrant && t.held() != "" && !errors.Is(err, ErrDeadlock):
		w.history.fault("%v: locking again was not ErrDeadlock: %v", t, err)
	}
}

// leave ends a stay.
func (w *world) leave(t *tenure, s sojourn) (handle string) {
	switch s.leave {
	case "forget":
		<-w.over
	case "detach":
		if handle = w.detach(t, s.limit); handle != "" {
			return handle
		}
	case "both":
		var both sync.WaitGroup
		both.Go(func() { handle = w.detach(t, s.limit) })
		both.Go(func() { w.release(t, s.limit) })
		both.Wait()
		return handle
	}
	w.release(t, s.limit)
	return ""
}

// leaving is a call that ends a lease: it may take as long as the lease, or its claim, lives.
func (w *world) leaving(t *tenure, what string, limit time.Duration) call {
	return call{who: t.who, what: what, limit: limit, bound: w.plan.ttl*5/4 + time.Second}
}

func (w *world) release(t *tenure, limit time.Duration) {
	t.leave(w.history.since())
	t.unsure(true)
	last := !t.lease.grant.isCounted()
	err := w.do(w.leaving(t, "release", limit), t.lease.Release)
	w.ended(t, "released")
	t.unsure(err != nil)
	if err == nil && last && !t.resumed {
		w.judge.released(t)
	}
}

// isCounted reports whether several leases are on the grant.
func (g *grant) isCounted() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.leases) > 1
}

// ended judges a lease that its holder has ended.
func (w *world) ended(t *tenure, how string) {
	if way := t.held(); way != "" {
		w.history.fault("%v: %s says that it is held after it was %s", t, way, how)
	}
	t.over(w.history.since())
}

func (w *world) detach(t *tenure, limit time.Duration) (handle string) {
	w.do(w.leaving(t, "detach", limit), func(ctx context.Context) (err error) {
		handle, err = t.lease.Detach(ctx)
		return err
	})
	if handle != "" {
		t.handOn()
		w.ended(t, "detached")
	}
	return handle
}

// resume goes on with a handle, if there is one, as often as planned.
func (w *world) resume(who, handle string, resumes []resume) {
	if handle == "" {
		return
	}
	var all sync.WaitGroup
	for i, r := range resumes {
		all.Go(func() { w.goOn(who+string(rune('a'+i)), handle, r) })
	}
	all.Wait()
}

func (w *world) goOn(who, handle string, r resume) {
	time.Sleep(r.after)
	c := w.client(r.client)
	called := w.history.since()
	var lease *Lease
	over := w.judge.resumes(handle)
	err := w.do(call{who: who, what: "resume", limit: w.plan.ttl}, func(ctx context.Context) (err error) {
		lease, err = c.Resume(ctx, handle)
		return err
	})
	if err != nil {
		over()
		return
	}
	t := w.enter(who, c, lease, nil, r.stay.view, called)
	over()
	w.stay(t, r.stay)
}
