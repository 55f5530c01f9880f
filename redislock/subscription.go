package redislock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A feed is what a subscription keeps alive, and where what comes over it goes.
type feed interface {
	// listen subscribes, calls confirmed when the server has confirmed that, and returns when the subscription has
	// ended.
	listen(ctx context.Context, confirmed func()) error
	// connected is called when the server has confirmed the subscription. again says that it broke before: what was
	// sent in between is lost.
	connected(again bool)
}

// A subscription keeps one feed alive until it is closed, through all that breaks it.
type subscription struct {
	feed     feed
	stop     context.CancelFunc
	finished chan struct{}

	begun atomic.Bool // it has been confirmed at least once

	mu      sync.Mutex
	attempt chan struct{} // closed when the attempt to subscribe has ended, one way or the other
	failed  error         // why the last one did
}

func subscribe(f feed) *subscription {
	running, stop := context.WithCancel(context.Background())
	s := &subscription{feed: f, stop: stop, finished: make(chan struct{}), attempt: make(chan struct{})}
	go s.run(running)
	return s
}

// ready returns when the server has confirmed the subscription once, or with the error of the attempt. While a broken
// one is being renewed it does not wait: the feed is told when that is done.
func (s *subscription) ready(ctx context.Context) error {
	if s.isReady() {
		return nil
	}
	s.mu.Lock()
	attempt := s.attempt
	s.mu.Unlock()
	if s.isReady() { // meanwhile: the attempt is another one, which nobody may end
		return nil
	}
	select {
	case <-attempt:
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.isReady() {
			return nil
		}
		return s.failed
	case <-s.finished:
		return driver.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isReady reports whether the server has confirmed the subscription at least once.
func (s *subscription) isReady() bool { return s.begun.Load() }

// Pauses between two attempts to subscribe.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
)

// run keeps the subscription until close. After one that worked the pauses are short again.
func (s *subscription) run(ctx context.Context) {
	defer close(s.finished)
	pace := driver.Backoff{First: firstPause, Most: lastPause}
	for ctx.Err() == nil {
		var worked atomic.Bool
		err := s.feed.listen(ctx, func() { worked.Store(true); s.connected() })
		s.disconnected(err)
		if worked.Load() {
			pace.Reset()
		}
		pace.Pause(ctx) // the loop looks at ctx
	}
}

// connected lets those go on who wait for the subscription.
// The feed is told after begun is set: whoever asks because of that finds a subscription that works.
func (s *subscription) connected() {
	s.mu.Lock()
	again := s.begun.Swap(true)
	s.endAttempt(nil)
	s.mu.Unlock()
	s.feed.connected(again)
}

// disconnected tells those who wait for the first subscription why there is none. Later ones are renewed without a
// word.
func (s *subscription) disconnected(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = errors.New("redis: the subscription ended")
	}
	if !s.isReady() {
		s.endAttempt(err)
	}
}

// endAttempt lets those go on who wait for the attempt, and begins another. mu is held.
func (s *subscription) endAttempt(err error) {
	s.failed = err
	close(s.attempt)
	s.attempt = make(chan struct{})
}

// close ends the subscription, and returns when it has ended.
func (s *subscription) close() {
	s.stop()
	<-s.finished
}
