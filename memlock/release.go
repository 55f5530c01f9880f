package memlock

import "github.com/holdfast-go/holdfast/driver"

func (l *lock) release(c driver.Claim) error {
	place, ok := l.find(c)
	switch {
	case ok:
		l.take(true, c.ID)
		return nil
	case place >= 0:
		return driver.ErrGone
	default:
		return l.releaseAgain(c)
	}
}

// take ends one claim of the queue.
func (l *lock) take(released bool, id string) {
	l.end(released, func(q driver.Claim) bool { return q.ID == id })
}

// releaseAgain answers about a claim that is not queued, and bars its ID when a request may still be under way.
func (l *lock) releaseAgain(c driver.Claim) error {
	e, known := l.recall(c.ID)
	switch {
	case known && e.released && (c.Token == 0 || c.Token == e.token):
		return nil
	case !known && c.Token == 0:
		l.remember(c, false)
	}
	return driver.ErrGone
}
