package memlock

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// Subscribe implements [driver.Driver]. The end of a claim by the passing of time is told, too.
func (d *Driver) Subscribe(tell func(driver.Event)) (stop func()) {
	d.store.mu.Lock()
	defer d.store.mu.Unlock()
	if d.tells == nil {
		d.tells = make(map[*func(driver.Event)]struct{})
	}
	d.tells[&tell] = struct{}{}
	return func() {
		d.store.mu.Lock()
		defer d.store.mu.Unlock()
		delete(d.tells, &tell)
	}
}

// tell tells what has happened. The store's mutex is held.
func (d *Driver) tell(e driver.Event) {
	for tell := range d.tells {
		(*tell)(e)
	}
}

// A following says for each client that follows a claim whether it goes on once the claim is granted.
type following map[*Driver]bool

// request requests a claim, and follows it if it waits, or the request says so.
func (d *Driver) request(op *driver.Op, l *lock) (driver.Status, error) {
	st, err := l.request(op.Claim)
	if err != nil || len(d.tells) == 0 {
		return st, err
	}
	if r := l.records[op.Claim.ID]; r != nil && (op.Follow || !st.Granted) {
		l.follow(r, d, op.Follow)
	} else if r != nil {
		l.unfollow(r, d)
	}
	return st, nil
}

// release releases a claim, about whose end its own client need not be told.
func (d *Driver) release(c driver.Claim, l *lock) error {
	if _, ok := l.find(c); ok {
		l.unfollow(l.records[c.ID], d)
	}
	return l.release(c)
}

func (l *lock) follow(r *record, d *Driver, whenGranted bool) {
	if r.following == nil {
		r.following = make(following)
	}
	if _, ok := r.following[d]; !ok {
		l.followed++
	}
	r.following[d] = whenGranted
}

func (l *lock) unfollow(r *record, d *Driver) {
	if _, ok := r.following[d]; ok {
		l.followed--
		delete(r.following, d)
	}
}

// tellNews tells those that follow the claim at this place how it is now.
func (l *lock) tellNews(place int) {
	c := l.queue[place]
	r := l.records[c.ID]
	for d, whenGranted := range r.following {
		d.tell(driver.Event{Name: c.Name, ID: c.ID, Status: l.status(place)})
		if !whenGranted {
			l.unfollow(r, d)
		}
	}
}

// tellEnd tells those that follow a claim that it has ended.
func (l *lock) tellEnd(c driver.Claim, r *record) {
	for d := range r.following {
		l.unfollow(r, d)
		d.tell(driver.Event{Name: c.Name, ID: c.ID, Err: driver.ErrGone})
	}
}

// arm has the lock looked at when something expires in it of whose end somebody is to be told.
func (s *store) arm(name string, l *lock) {
	if l.followed == 0 && len(l.watchers) == 0 || len(l.queue) == 0 {
		return
	}
	if l.alarm != nil && !l.soonest.Before(l.alarmAt) {
		return
	}
	l.alarmAt = l.soonest
	if l.alarm != nil {
		l.alarm.Reset(l.soonest.Sub(l.now))
		return
	}
	l.alarm = time.AfterFunc(l.soonest.Sub(l.now), func() {
		now := s.enter(name)
		defer s.leave(name, now)
		now.alarm = nil
	})
}

// forgetClient drops what a client wants to be told.
func (s *store) forgetClient(d *Driver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(d.tells)
	for name, l := range s.locks {
		delete(l.watchers, d)
		for _, r := range l.records {
			l.unfollow(r, d)
		}
		s.forget(name, l)
	}
}
