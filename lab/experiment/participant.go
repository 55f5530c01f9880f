package experiment

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/lab/classic"
	"github.com/holdfast-go/holdfast/lab/recording"
	"github.com/holdfast-go/holdfast/lab/subprocess"
)

var participants = subprocess.Register("participant", participate)

// A task tells a participant, which is a process of its own, what it locks and writes with.
type task struct {
	Lock     lockKind
	Addrs    []string // of Redis servers
	Source   string   // of a MariaDB server
	URL      string   // of Holdfast's lock
	TTL      time.Duration
	Resource string // where it writes; empty if it does not
}

// A lockKind is what a participant locks with.
type lockKind string

const (
	lockSETNX             lockKind = "setnx"
	lockSETNXBeforeExpire lockKind = "setnx, stopped before expire"
	lockSET               lockKind = "set"
	lockRedlock           lockKind = "redlock"
	lockRow               lockKind = "row"
	lockCountedRow        lockKind = "counted row"
	lockHoldfast          lockKind = "holdfast"
)

// A command is what a participant can be told to do. It answers once it has done it.
type command string

const (
	doLock   command = "lock"   // wait until the lock is held
	doLook   command = "look"   // tell whether it is still held
	doWrite  command = "write"  // write, without looking
	doUnlock command = "unlock" // release it
)

// An answer is how it went.
type answer struct {
	OK    bool
	Token uint64
	Ended time.Duration // how long ago the lock ended
	Stale bool
	Err   string
}

// A locker is a lock in a participant. Without look it never learns that it lost the lock; without token it has none.
type locker struct {
	lock   func(context.Context) error
	unlock func(context.Context) error
	look   func() (held bool, ended time.Duration)
	token  func() uint64
}

const lockKey = "lab:lock"

// lockers make the locks of participants.
var lockers = map[lockKind]func(context.Context, task) (locker, error){
	lockSETNX: func(_ context.Context, r task) (locker, error) {
		return naive(classic.SetNX{Redis: dial(r.Addrs[0], patient), Key: lockKey}), nil
	},
	lockSETNXBeforeExpire: func(_ context.Context, r task) (locker, error) {
		l := classic.SetNXThenExpire{Redis: dial(r.Addrs[0], patient), Key: lockKey, TTL: r.TTL}
		return locker{lock: func(ctx context.Context) error {
			between := make(chan struct{})
			l.Between = func() { close(between); select {} } // until somebody kills it
			go func() { _, _ = l.TryLock(ctx) }()
			<-between
			return nil
		}}, nil
	},
	lockSET: func(_ context.Context, r task) (locker, error) {
		return naive(classic.SetCompareDelete{Redis: dial(r.Addrs[0], patient), Key: lockKey, Value: rand.Text(),
			TTL: r.TTL}), nil
	},
	lockRedlock: func(_ context.Context, r task) (locker, error) {
		l := classic.Redlock{Key: lockKey, Value: rand.Text(), TTL: r.TTL}
		for _, addr := range r.Addrs {
			l.Nodes = append(l.Nodes, dial(addr, patient))
		}
		return naive(l), nil
	},
	lockRow: func(_ context.Context, r task) (locker, error) {
		row, err := rowOf(r)
		return naive(row), err
	},
	lockCountedRow: func(_ context.Context, r task) (locker, error) {
		row, err := rowOf(r)
		return naive(classic.CountedRow{UniqueRow: row}), err
	},
	lockHoldfast: ours,
}

func rowOf(r task) (row classic.UniqueRow, err error) {
	db, err := sql.Open("mysql", r.Source)
	return classic.UniqueRow{DB: db, Type: lockKey, Owner: rand.Text()}, err
}

// naive is a classic lock, tried again and again.
func naive(l interface {
	TryLock(context.Context) (bool, error)
	Unlock(context.Context) error
}) locker {
	return locker{lock: func(ctx context.Context) error { return poll(ctx, l.TryLock) }, unlock: l.Unlock}
}

// poll tries until it succeeds.
func poll(ctx context.Context, try func(context.Context) (bool, error)) error {
	for {
		if ours, err := try(ctx); ours || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func ours(ctx context.Context, r task) (l locker, err error) {
	client, err := holdfast.Open(ctx, r.URL, holdfast.WithTTL(r.TTL))
	if err != nil {
		return l, err
	}
	var lease *holdfast.Lease
	return locker{
		lock: func(ctx context.Context) (err error) {
			lease, err = surely(ctx, client.Mutex("lab").Lock)
			return err
		},
		unlock: func(ctx context.Context) error { return lease.Release(ctx) },
		look:   func() (bool, time.Duration) { return lease.Err() == nil, time.Since(lease.ValidUntil()) },
		token:  func() uint64 { return lease.Token() },
	}, nil
}

// participate is what the process of a participant does: it is given a task, then commands.
func participate(ctx context.Context, in *json.Decoder, out *json.Encoder) error {
	var r task
	if err := in.Decode(&r); err != nil {
		return err
	}
	open := lockers[r.Lock]
	if open == nil {
		return fmt.Errorf("no participant locks with %q", r.Lock)
	}
	l, err := open(ctx, r)
	if err != nil {
		return err
	}
	var to *resource
	if r.Resource != "" {
		if to, err = openResource(r.Resource); err != nil {
			return err
		}
	}
	for {
		var what command
		if err := in.Decode(&what); err != nil {
			return err
		}
		if err := out.Encode(l.do(ctx, what, to)); err != nil {
			return err
		}
	}
}

func (l locker) do(ctx context.Context, what command, to *resource) (a answer) {
	if l.token != nil && what != doLock {
		a.Token = l.token()
	}
	err := error(nil)
	switch what {
	case doLock:
		err = l.lock(ctx)
	case doUnlock:
		err = l.unlock(ctx)
	case doWrite:
		err = to.Write(ctx, fmt.Sprint("token ", a.Token), a.Token)
		a.Stale = errors.Is(err, fence.ErrStale)
	case doLook:
		a.OK = true
		if l.look != nil {
			a.OK, a.Ended = l.look()
		}
		return a
	}
	a.OK = err == nil
	if err != nil {
		a.Err = err.Error()
	}
	return a
}

// A participant is a process that takes part in a trial.
type participant struct {
	s     *Trial
	who   string
	proc  *subprocess.Process
	ended func(at float64) // is called when it believes no more that it holds the lock; nil if it does not believe so
	well  func()           // is called when it goes on
}

// Participant starts a process that locks as its task says. It ends with the experiment.
func (s *Trial) Participant(who string, r task) *participant {
	s.Helper()
	proc, err := participants.Start()
	s.Must(err)
	s.Cleanup(func() { _ = proc.Stop() })
	s.Must(proc.Send(r))
	return &participant{s: s, who: who, proc: proc}
}

func (p *participant) ask(what command) (a answer) {
	p.s.Helper()
	p.s.Must(p.proc.Send(what))
	p.s.Must(p.proc.Receive(&a))
	return a
}

// Lock waits until the participant holds the lock.
func (p *participant) Lock() {
	p.s.Helper()
	granted := p.s.Wait(p.who)
	if a := p.ask(doLock); !a.OK {
		p.s.Fatal(p.who + ": " + a.Err)
	}
	granted()
	p.ended = p.s.start(recording.Event{Who: p.who, Kind: recording.Holds})
}

// Look reports whether the participant believes that it holds the lock.
func (p *participant) Look() bool {
	p.s.Helper()
	a := p.ask(doLook)
	if !a.OK {
		p.s.Mark(p.who, recording.Noted, "it looks, and knows that the lock is lost")
		p.until(p.s.now() - milliseconds(a.Ended))
	}
	return a.OK
}

// Write writes without looking, and reports whether that was accepted.
func (p *participant) Write() bool {
	p.s.Helper()
	a := p.ask(doWrite)
	return p.s.wrote(p.who, a.OK, a.Stale, errors.New(a.Err))
}

// Unlock releases the lock. Somebody else may have it by now, which the participant cannot know, so errors do not
// count.
func (p *participant) Unlock() {
	p.s.Helper()
	_ = p.ask(doUnlock)
	p.until(p.s.now())
}

// until ends the time in which the participant believed to hold the lock.
func (p *participant) until(end float64) {
	if p.ended != nil {
		p.ended(end)
		p.ended = nil
	}
}

// Crash kills the process.
func (p *participant) Crash() {
	p.s.Helper()
	p.s.Must(p.proc.Stop())
	p.until(p.s.now())
	p.s.Fault(p.who, "killed")
}

// Pause stops the process where it stands.
func (p *participant) Pause() {
	p.s.Helper()
	p.s.Must(p.proc.Pause())
	p.well = p.s.Fault(p.who, "the process stands still")
}

// Resume lets it go on.
func (p *participant) Resume() {
	p.s.Helper()
	p.s.Must(p.proc.Resume())
	p.well()
	p.s.Mark(p.who, recording.Noted, "the process goes on")
}
