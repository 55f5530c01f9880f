package experiment

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/lab/classic"
	"github.com/holdfast-go/holdfast/lab/recording"
)

func condition() Experiment {
	return Experiment{
		Name:     "spurious-wake-up",
		Question: "What does a waiter do that is woken for nothing?",
		Code:     "classic/condition.go",
		Variants: []Variant{
			{Title: "Waiting with if", Run: func(s *Trial) { wakeForNothing(s, (*classic.Mailbox).TakeIf) }},
			{Title: "Waiting in a loop", Right: true,
				Run: func(s *Trial) { wakeForNothing(s, (*classic.Mailbox).TakeWhile) }},
			{Title: "Holdfast", Ours: true, Run: wakeLockForNothing},
		},
		Answer: func(r Report) string {
			return fmt.Sprintf("Woken for nothing, a waiter took a letter that was not there; woken %.0f times for "+
				"nothing, Holdfast's waited on until the lock was free.", r.most(true, wakeUps))
		},
	}
}

// wakeForNothing wakes a reader of an empty mailbox, and fails if it takes a letter that is not there.
func wakeForNothing(s *Trial, take func(*classic.Mailbox) error) {
	m := classic.NewMailbox()
	took := make(chan error, 1)
	go func() { took <- take(m) }()
	s.mustSoon(func() bool { return m.Waiting() == 1 })
	done := s.Wait("reader")
	defer done()
	m.WakeForNothing()
	s.Mark("reader", recording.Noted, "woken for nothing")
	select {
	case err := <-took:
		s.Result(errors.Is(err, classic.ErrEmpty), "it took a letter that is not there")
		return
	case <-time.After(100 * time.Millisecond): // nothing happens, which nobody announces
	}
	m.Put()
	s.Result(<-took != nil, "it waited on, until there was a letter")
}

// restless is a driver that wakes waiters all the time.
type restless struct {
	driver.Driver
	wakes atomic.Int64
}

// Subscribe implements [driver.Driver].
func (r *restless) Subscribe(tell func(driver.Event)) (stop func()) {
	unsubscribe := r.Driver.Subscribe(tell)
	every, end := time.NewTicker(time.Millisecond), make(chan struct{})
	go func() {
		defer every.Stop()
		for {
			select {
			case <-every.C:
				r.wakes.Add(1)
				tell(driver.Event{})
			case <-end:
				return
			}
		}
	}()
	return func() {
		close(end)
		unsubscribe()
	}
}

const wakeUps = "wake-ups for nothing"

// wakeLockForNothing wakes who waits for a lock all the time, and fails if it believes to hold the lock too soon.
func wakeLockForNothing(s *Trial) {
	d, err := driver.Open(s.Context(), "mem:spurious-wake-up")
	s.Must(err)
	r := &restless{Driver: d}
	client := holdfast.New(r)
	defer client.Close(s.Context())
	holder := s.Client("mem:spurious-wake-up")
	lease, err := holder.Mutex("m").Lock(s.Context())
	s.Must(err)
	end := s.Hold("A")
	got := make(chan error, 1)
	go func() {
		granted := s.Wait("B")
		next, err := client.Mutex("m").Lock(s.Context())
		if err == nil {
			granted()
			s.Work("B")
			err = next.Release(s.Context())
		}
		got <- err
	}()
	s.mustSoon(func() bool { return r.wakes.Load() > 20 })
	end()
	s.Must(lease.Release(s.Context()))
	s.Must(<-got)
	s.Number(wakeUps, float64(r.wakes.Load()), "")
	s.Exclusive()
}

// mustSoon waits for a condition that nobody announces, and ends the experiment if it does not come to pass.
func (s *Trial) mustSoon(ask func() bool) {
	s.Helper()
	if !within(s.Context(), 30*time.Second, ask) {
		s.Fatal("what the experiment waits for did not come to pass in 30 s")
	}
}
