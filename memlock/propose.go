package memlock

import (
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// propose requests a claim under a token. A claim whose first proposal is refused gets a token from the clock.
func (l *lock) propose(c driver.Claim, token uint64) (driver.Status, error) {
	c.Queue = false
	greatest := l.last
	st, err := l.request(c)
	if err == nil {
		st.Token = l.settle(c.ID, st.Granted, token, greatest)
	}
	return st, err
}

// inLife is the one life of a store, which ends with the process.
func (s *store) inLife() driver.Life { return driver.Life{ID: s.life, Age: time.Since(s.began)} }

// settle gives a granted claim the token when it may have it, and returns the claim's token, or else the greatest.
func (l *lock) settle(id string, granted bool, token, greatest uint64) uint64 {
	if !granted {
		return l.last
	}
	place, _ := l.find(driver.Claim{ID: id})
	switch own := &l.queue[place].Token; {
	case token > greatest:
		*own = token
		l.last = token
		return token
	case token == *own:
		return token
	default:
		return l.last
	}
}
