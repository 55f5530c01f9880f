package zklock

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// Servers that were restored from a backup, or lost their disks, know of fewer changes than their clients have seen.
// They turn each such client away before they greet it, as a server does that lags behind. So the client never hears
// that its session has ended, and has to find out by itself.

// isAway reports whether the session has no connection.
func (s *session) isAway() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.away != 0
}

// noteConnection notes that the session has a connection, or that it has none, since now unless it had none before.
func (s *session) noteConnection(up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case up:
		s.away = 0
	case s.away == 0:
		s.away = leased.Now()
	}
}

// isShutOut reports whether servers have turned the session away for so long that its claims are over.
func (s *session) isShutOut() bool {
	s.mu.Lock()
	away := s.away
	s.mu.Unlock()
	return away != 0 && leased.Now().Sub(away) > s.time && s.link.isTurnedAway()
}

// findForgotten loses a session that is shut out if its servers have forgotten changes that it has seen.
//
// Another session tells, which has seen none and is let in. What it writes is a new change, and a majority agrees on
// its number. If nothing is forgotten, that is greater than the number of each change that was seen before, however
// far the server lags behind. Without a leader nothing is written, and the session goes on when there is one.
func (s *session) findForgotten() {
	back := s.nextConnection()
	if !s.isShutOut() {
		return
	}
	ctx, cancel := context.WithTimeout(s.d.lifetime, max(startTimeout, s.time))
	defer cancel()
	s.d.running.Go(func() {
		defer cancel()
		select {
		case <-back:
		case <-s.lost:
		case <-ctx.Done():
		}
	})
	seen := s.link.newest.Load()
	now, err := s.d.newestChange(ctx)
	if err == nil && now < seen && s.isShutOut() {
		s.lose(errForgotten)
	}
}

// newestChange makes a change, in a session of its own, and returns its number, or that of a later one.
func (d *Driver) newestChange(ctx context.Context) (int64, error) {
	s, err := d.start(ctx, sessionTime(askTTL))
	if err != nil {
		return 0, err
	}
	defer s.end()
	err = s.settle(ctx)
	return s.link.newest.Load(), err
}
