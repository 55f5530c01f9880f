package template

import (
	"errors"
	"slices"

	"github.com/holdfast-go/holdfast/driver"
)

// A watch is on the key of a lock while something about it is to be told. The driver's mutex guards it.
type watch struct {
	name   string
	claims map[string]*followed // by ID
	queue  []driver.Entry       // to tell when it is another one; nil: nobody watches it
	last   *queue               // nil before the first record
	stop   func()
}

// A followed claim has the state that its client knows.
type followed struct {
	known   driver.Status
	granted bool // follow it also once it is granted
}

// Subscribe implements [driver.Driver].
func (d *Driver) Subscribe(tell func(driver.Event)) (stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tells[&tell] = struct{}{}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.tells, &tell)
	}
}

func (d *Driver) tell(e driver.Event) {
	for tell := range d.tells {
		(*tell)(e)
	}
}

// follow begins to watch for the sake of an operation that was answered. Nothing is missed before it does: a watch
// begins with the record as it is, and one that was there before has the last. After a request without an answer the
// claim may be queued, so it is followed.
func (d *Driver) follow(op driver.Op, r *driver.Result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	unknown := !driver.IsAnswer(r.Err) && !errors.Is(r.Err, driver.ErrUnsent)
	waits := r.Err == nil && !r.Status.Granted && op.Claim.Queue
	switch {
	case d.closed.Load():
	case op.Kind == driver.OpWatch && r.Err == nil:
		w := d.watch(op.Claim.Name)
		w.queue, r.Queue = r.Queue, nil
		d.judge(w)
	case op.Kind == driver.OpRequest && (unknown || waits || r.Err == nil && r.Status.Granted && op.Follow):
		w := d.watch(op.Claim.Name)
		w.claims[op.Claim.ID] = &followed{r.Status, op.Follow}
		d.judge(w)
	case op.Kind == driver.OpRequest && driver.IsAnswer(r.Err):
		d.unfollow(op.Claim)
	}
}

func (d *Driver) unfollow(c driver.Claim) {
	if w := d.watches[c.Name]; w != nil {
		delete(w.claims, c.ID)
		d.unwatchIdle(w)
	}
}

// watch returns the watch on a lock, and begins it if there is none.
func (d *Driver) watch(name string) *watch {
	w := d.watches[name]
	if w == nil {
		w = &watch{name: name, claims: make(map[string]*followed)}
		d.watches[name] = w
		w.stop = d.store.Watch(key(name), func(r Record) { d.changed(w, r) })
	}
	return w
}

func (d *Driver) unwatchIdle(w *watch) {
	if len(w.claims) == 0 && w.queue == nil {
		delete(d.watches, w.name)
		w.stop()
	}
}

// changed keeps a record, and tells what follows from it.
func (d *Driver) changed(w *watch, r Record) {
	q, _ := decode(w.name, r) // one that cannot be read is empty here: it tells nothing
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.watches[w.name] == w {
		w.last = q
		d.judge(w)
	}
}

// judge tells what follows from the last record, which may be an old one if the store is late. So it tells only what
// stays true: that a claim is granted, which it is until it ends, that it is the next in line, and that it has ended.
// That a claim has expired changes no record until somebody asks: the next in line does when Status.Retry has passed,
// and who watches a queue looks from time to time anyway.
func (d *Driver) judge(w *watch) {
	if w.last == nil {
		return
	}
	for id, f := range w.claims {
		st, queued := w.last.status(id)
		news := st.Granted && !f.known.Granted || st.Revoked && !f.known.Revoked || st.Retry > 0 && f.known.Retry == 0
		f.known = st
		if !news && (queued || !w.last.isBarred(id)) {
			continue
		}
		e := driver.Event{Name: w.name, ID: id, Status: st}
		if !queued {
			e.Err = driver.ErrGone
		}
		d.tell(e)
		if e.Err != nil || st.Granted && !f.granted {
			delete(w.claims, id)
		}
	}
	same := func(a, b driver.Entry) bool { return a.ID == b.ID }
	if w.queue != nil && !slices.EqualFunc(w.last.entries(), w.queue, same) {
		w.queue = nil
		d.tell(driver.Event{Name: w.name})
	}
	d.unwatchIdle(w)
}
