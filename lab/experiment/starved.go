package experiment

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/lab/classic"
)

func starvedWriter() Experiment {
	return Experiment{
		Name:     "starved-writer",
		Question: "When does a writer get in while readers keep coming?",
		Code:     "classic/readersfirst.go",
		Variants: []Variant{
			{Title: "Readers first", Run: func(s *Trial) {
				var l classic.ReadersFirst
				readersComing(s, rw{
					rlock: func() func() { l.RLock(); return l.RUnlock },
					lock:  func() func() { l.Lock(); return l.Unlock },
				})
			}},
			{Title: "Holdfast", Ours: true, Run: func(s *Trial) {
				m := s.Client("mem:starved-writer").RWMutex("page")
				readersComing(s, rw{
					rlock: func() func() { return hold(s, m.RLock) },
					lock:  func() func() { return hold(s, m.Lock) },
				})
			}},
		},
		Answer: func(r Report) string {
			return fmt.Sprintf("%.0f readers that came later were let in before the writer; with Holdfast %s.",
				r.most(false, overtook), none(r.most(true, overtook)))
		},
	}
}

// rw is a readers-writer lock. Its functions wait for the lock, and return how to give it back.
type rw struct{ rlock, lock func() (unlock func()) }

// hold acquires a lock of Holdfast. A lock that ends with the trial does not matter.
func hold(s *Trial, acquire func(context.Context) (*holdfast.Lease, error)) func() {
	lease, err := acquire(s.Context())
	if err != nil {
		return func() {}
	}
	return func() { _ = lease.Release(s.Context()) }
}

const overtook = "readers that came after the writer and were let in first"

// readersComing lets a writer in among readers of whom each stays until the next has come, or until that one seems to
// wait for the writer. It fails if the writer still waits when so many have come after it.
func readersComing(s *Trial, l rw) {
	patience := int64(s.crowd(400, 100))
	var came, asked, later atomic.Int64
	written := make(chan struct{})
	go func() {
		defer close(written)
		within(s.Context(), time.Minute, func() bool { return came.Load() >= 10 })
		asked.Store(came.Load())
		granted := s.Wait("writer")
		unlock := l.lock()
		granted()
		later.Store(came.Load() - asked.Load())
		end := s.Hold("writer")
		time.Sleep(5 * time.Millisecond) // it writes
		end()
		unlock()
	}()
	relay(s, l, &came, func() bool {
		select {
		case <-written:
			return false
		default:
			return asked.Load() == 0 || came.Load() < asked.Load()+patience
		}
	})
	<-written // now that nobody reads any more
	n := later.Load()
	s.Number(overtook, float64(n), "")
	s.Result(n >= patience, "%d readers that came later were let in before the writer", n)
}

// relay sends readers in, one after the other, until it is not to go on. Each leaves when the next is in, or soon
// anyway.
func relay(s *Trial, l rw, came *atomic.Int64, goOn func() bool) {
	unlock, end := l.rlock(), s.Share("reader 1")
	for goOn() {
		time.Sleep(time.Millisecond) // it reads
		entered := make(chan func(), 1)
		go func() { entered <- l.rlock() }()
		select {
		case next := <-entered:
			unlock, next = next, unlock
			end()
			next()
		case <-time.After(250 * time.Millisecond):
			end()
			unlock()
			unlock = <-entered
		}
		end = s.Share(readerName(came.Add(1)))
	}
	unlock()
	end()
}

// readerName names one of two rows of the timeline, which readers have in turns.
func readerName(n int64) string {
	if n%2 == 1 {
		return "reader 2"
	}
	return "reader 1"
}
