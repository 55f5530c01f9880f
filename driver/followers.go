package driver

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Followers implement [Driver.Subscribe] for engines that do not push: a goroutine waits for each claim that is
// followed, in whatever way the engine has. The driver calls Note with the result of each operation on a claim, and
// Watch for OpWatch. The fields are set before the first call.
type Followers struct {
	// Wait blocks until the claim may have moved: a waiting claim was granted or ended, a granted one was revoked,
	// broken or lost. A Status that is not zero is the claim's new state; a zero Status means "ask again". ErrGone is
	// the claim's end. Returning early is allowed; returning late only costs time. If ctx ends, Wait returns its error.
	Wait func(ctx context.Context, c Claim) (Status, error)
	// Listen has moved called when a granted claim may have moved, until stop is called, without a goroutine for each.
	// That includes what happened since the last answer about the claim. moved may be called under any of the driver's
	// locks, and once more after stop. ctx bounds the call of Listen, not the listening; after an error moved is never
	// called. Nil: Wait serves these claims, too.
	Listen func(ctx context.Context, c Claim, moved func()) (stop func(), err error)
	// Changed blocks until a queue may have changed since it called begun, or ctx ends. It calls begun as soon as no
	// change will escape it. Returning early is allowed. Nil: a change is told after a pause, whether there was one or
	// not.
	Changed func(ctx context.Context, name string, begun func()) error

	running sync.WaitGroup // goroutines that tell events

	mu       sync.Mutex
	closed   bool
	life     context.Context // ends when nobody is told any more; nil while nobody is
	end      context.CancelFunc
	tells    map[*func(Event)]struct{}
	followed map[string]*follower // by the claim's ID
	watched  map[string]*watch    // of the locks of which a change will be told, by their names
	panics   map[subject]error    // of Wait, Listen and Changed
}

// begin begins to follow, for the first subscriber. mu is held.
func (fs *Followers) begin() {
	fs.life, fs.end = context.WithCancel(context.Background())
	fs.tells = make(map[*func(Event)]struct{})
	fs.followed, fs.watched, fs.panics = make(map[string]*follower), make(map[string]*watch), make(map[subject]error)
}

// follows reports whether anybody is told anything. mu is held.
func (fs *Followers) follows() bool { return fs.life != nil }

// Close ends what waits. Nothing is told after it has returned.
func (fs *Followers) Close() {
	fs.mu.Lock()
	fs.closed = true
	followed := fs.quit()
	fs.mu.Unlock()
	fs.stopAll(followed)
	fs.running.Wait()
}

// quit ends what waits, because nobody is to be told. It returns what is to be stopped once mu, which is held, is not.
func (fs *Followers) quit() (followed map[string]*follower) {
	if !fs.follows() {
		return nil
	}
	followed = fs.followed
	fs.end()
	fs.life, fs.tells, fs.followed, fs.watched, fs.panics = nil, nil, nil, nil, nil
	return followed
}

func (fs *Followers) stopAll(followed map[string]*follower) {
	for _, f := range followed {
		fs.stop(f)
	}
}

// Subscribe implements [Driver]. Nothing is followed while there is no subscriber.
func (fs *Followers) Subscribe(tell func(Event)) (stop func()) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.closed {
		return func() {}
	}
	if !fs.follows() {
		fs.begin()
	}
	fs.tells[&tell] = struct{}{}
	return func() { fs.stopAll(fs.unsubscribe(&tell)) }
}

// unsubscribe takes a subscriber out. After the last it returns what is to be stopped.
func (fs *Followers) unsubscribe(tell *func(Event)) (followed map[string]*follower) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if delete(fs.tells, tell); len(fs.tells) > 0 {
		return nil
	}
	return fs.quit()
}

// tell passes an event on to all subscribers.
func (fs *Followers) tell(e Event) {
	fs.mu.Lock()
	tells := make([]func(Event), 0, len(fs.tells))
	for tell := range fs.tells {
		tells = append(tells, *tell)
	}
	fs.mu.Unlock()
	for _, tell := range tells {
		tell(e)
	}
}

// A follower tells what happens to one claim.
type follower struct {
	claim    Claim
	granted  bool
	cancel   context.CancelFunc
	answered chan struct{} // has something once the claim has been asked about
	expiry   *time.Timer   // ends it when the claim has ended and nobody said so
	silence  func()        // ends a listener; nil: there is none. mu guards it
}

// stop ends what a follower has under way. mu is not held, because the driver calls tell under its own locks.
func (fs *Followers) stop(f *follower) {
	f.cancel()
	f.expiry.Stop()
	fs.mu.Lock()
	silence := f.silence
	f.silence = nil
	fs.mu.Unlock()
	if silence != nil {
		fs.guard(subject{f.claim.Name, f.claim.ID}, silence)
	}
}

// Note follows a claim, or leaves it, as the result of an operation on it says. A panic of Wait or Listen for this
// claim goes on up to the caller.
func (fs *Followers) Note(op Op, r Result) {
	fs.raise(subject{op.Claim.Name, op.Claim.ID})
	switch {
	case op.Kind == OpRequest && r.Err == nil:
		fs.noteStatus(op, r.Status)
	case op.Kind.IsOnClaim() && errors.Is(r.Err, ErrGone) && op.Kind != OpRevoke, op.Kind == OpRelease && r.Err == nil:
		fs.unfollow(op.Claim.ID)
	}
}

// noteStatus follows a claim that waits, and a granted one if the request said so.
func (fs *Followers) noteStatus(op Op, st Status) {
	c := op.Claim
	if st.Token != 0 {
		c.Token = st.Token
	}
	if st.Granted && !op.Follow || !st.Granted && !c.Queue {
		fs.unfollow(c.ID)
		return
	}
	if before := fs.follow(op, c, st.Granted); before != nil {
		fs.stop(before)
	}
}

// follow follows a claim, unless it is followed already. It returns the follower that is to be stopped in turn.
func (fs *Followers) follow(op Op, c Claim, granted bool) (before *follower) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.followed[c.ID]
	switch {
	case !fs.follows():
		return nil
	case f == nil && !granted && op.Claim.Token != 0: // another client has queued it: Wait has one who waits
		return nil
	case f != nil && f.granted == granted && f.claim.Token == c.Token:
		select {
		case f.answered <- struct{}{}:
		default: // it has something
		}
		f.expiry.Reset(longerThan(c.TTL))
		return nil
	}
	fs.followed[c.ID] = fs.start(op, c, granted)
	return f
}

// start starts to follow a claim. mu is held.
func (fs *Followers) start(op Op, c Claim, granted bool) *follower {
	ctx, cancel := context.WithCancel(fs.life)
	f := &follower{claim: c, granted: granted, cancel: cancel, answered: make(chan struct{}, 1)}
	f.expiry = time.AfterFunc(longerThan(c.TTL), func() { fs.leave(f) })
	if granted && fs.Listen != nil {
		fs.run(subject{c.Name, c.ID}, func() { fs.listen(ctx, f) })
	} else {
		fs.run(subject{c.Name, c.ID}, func() { fs.wait(ctx, op, f) })
	}
	return f
}

// A subject is a claim or, without an ID, the queue of a lock.
type subject struct{ name, id string }

// run calls f in a goroutine. Its panic is kept for the next operation on the same subject, to which an event leads.
func (fs *Followers) run(about subject, f func()) {
	fs.running.Go(func() { fs.guard(about, f) })
}

// guard calls f, and keeps its panic.
func (fs *Followers) guard(about subject, f func()) {
	defer func() {
		if p := recover(); p != nil {
			fs.fell(about, panicError(p))
		}
	}()
	f()
}

// fell keeps a panic.
func (fs *Followers) fell(about subject, p error) {
	fs.mu.Lock()
	follows := fs.follows()
	if follows {
		fs.panics[about] = p
		delete(fs.followed, about.id)
		if about.id == "" {
			delete(fs.watched, about.name)
		}
	}
	fs.mu.Unlock()
	if follows {
		fs.tell(Event{Name: about.name, ID: about.id})
	}
}

// raise panics with what was kept.
func (fs *Followers) raise(about subject) {
	fs.mu.Lock()
	p, fell := fs.panics[about]
	delete(fs.panics, about)
	fs.mu.Unlock()
	if fell {
		panic(p)
	}
}

// longerThan is after how long a claim with this TTL has ended for certain.
func longerThan(ttl time.Duration) time.Duration { return max(ttl, ttl+time.Minute) }

// unfollow ends following a claim.
func (fs *Followers) unfollow(id string) {
	fs.mu.Lock()
	f := fs.followed[id]
	fs.mu.Unlock()
	if f != nil {
		fs.leave(f)
	}
}

// leave ends a follower, which may have been replaced by another one.
func (fs *Followers) leave(f *follower) {
	fs.mu.Lock()
	if fs.followed[f.claim.ID] == f {
		delete(fs.followed, f.claim.ID)
	}
	fs.mu.Unlock()
	fs.stop(f)
}

// followPace are the pauses where the way by which news comes is broken.
var followPace = Backoff{First: 5 * time.Millisecond, Most: 250 * time.Millisecond}

// askedWithin is how long a follower that has told its subscribers to ask waits for the answer, which it would only
// tell them to ask for again meanwhile.
const askedWithin = time.Second

// wait tells what Wait says about a claim.
func (fs *Followers) wait(ctx context.Context, op Op, f *follower) {
	pace, c := followPace, f.claim
	for {
		st, err := fs.Wait(ctx, c)
		e := Event{Name: c.Name, ID: c.ID, Status: st}
		switch {
		case ctx.Err() != nil && !errors.Is(err, ErrGone) && st == Status{}:
			return
		case errors.Is(err, ErrGone):
			e.Err = err
			fs.leave(f) // first: those who are told may request the claim anew, or follow it as granted
			fs.tell(e)
			return
		case err != nil:
			pace.Pause(ctx)
			e.Status = Status{}
		default:
			pace.Reset()
		}
		f.unanswered()
		if st.Granted && !f.granted {
			fs.noteStatus(op, st) // first, as above
			fs.tell(e)
			return
		}
		fs.tell(e)
		if e.Status == (Status{}) {
			fs.awaitAnswer(ctx, f)
		}
	}
}

// unanswered forgets that a claim has been asked about.
func (f *follower) unanswered() {
	select {
	case <-f.answered:
	default: // it has not been
	}
}

// awaitAnswer waits until a claim has been asked about.
func (fs *Followers) awaitAnswer(ctx context.Context, f *follower) {
	late := time.NewTimer(askedWithin)
	defer late.Stop()
	select {
	case <-f.answered:
	case <-late.C:
	case <-ctx.Done():
	}
}

// listen has a granted claim listened for.
func (fs *Followers) listen(ctx context.Context, f *follower) {
	e := Event{Name: f.claim.Name, ID: f.claim.ID}
	for pace := followPace; ctx.Err() == nil; pace.Pause(ctx) {
		silence, err := fs.Listen(ctx, f.claim, func() { fs.tell(e) })
		if err != nil {
			continue
		}
		fs.mu.Lock()
		f.silence = silence
		fs.mu.Unlock()
		if ctx.Err() != nil {
			fs.stop(f)
		}
		return
	}
}

// Watch has the next change of a queue told, for OpWatch. A panic of Changed goes on up to the caller.
func (fs *Followers) Watch(ctx context.Context, name string) error {
	fs.raise(subject{name: name})
	w, err := fs.watching(ctx, name)
	if w == nil || err != nil {
		return err
	}
	select {
	case <-w.begun:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A watch is one of a queue. begun is closed once no change can escape it: until then what OpWatch says is not true.
type watch struct {
	begin func()
	begun chan struct{}
}

// watching returns the watch of a queue, which it begins if there is none; nil while nobody is told anything.
func (fs *Followers) watching(ctx context.Context, name string) (*watch, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case fs.closed:
		return nil, ErrClosed
	case !fs.follows(), fs.watched[name] != nil:
		return fs.watched[name], nil
	}
	begun := make(chan struct{})
	w := &watch{begun: begun, begin: sync.OnceFunc(func() { close(begun) })}
	fs.watched[name] = w
	life := fs.life
	fs.run(subject{name: name}, func() {
		defer w.begin() // also after a failure, or a panic, which are told
		fs.watch(life, name, w)
	})
	return w, nil
}

// watch tells when a queue has changed, or when WatchTime has passed.
func (fs *Followers) watch(life context.Context, name string, w *watch) {
	ctx, cancel := context.WithTimeout(life, WatchTime)
	defer cancel()
	err := errNoWatch
	if fs.Changed != nil {
		err = fs.Changed(ctx, name, w.begin)
	}
	w.begin()
	if err != nil && ctx.Err() == nil {
		Sleep(ctx, watchPause) // the one who is told will ask to watch again
	}
	if life.Err() != nil {
		return
	}
	fs.mu.Lock()
	delete(fs.watched, name)
	fs.mu.Unlock()
	fs.tell(Event{Name: name})
}

// watchPause is how long those wait who watch a queue on an engine that tells of no changes.
const watchPause = time.Second

// errNoWatch stands for an engine that says nothing about queues.
var errNoWatch = errors.New("the engine tells of no changes")
