package memlock

import "github.com/holdfast-go/holdfast/driver"

// breakClaim ends a claim by force.
func (l *lock) breakClaim(id string) error {
	if _, ok := l.find(driver.Claim{ID: id}); !ok {
		return driver.ErrGone
	}
	l.take(false, id)
	return nil
}

// revoke asks the holder of a granted claim to release it.
func (l *lock) revoke(id string) error {
	place, ok := l.find(driver.Claim{ID: id})
	if !ok || place >= l.granted {
		return driver.ErrGone
	}
	l.records[id].revoked = true
	l.tellNews(place)
	return nil
}
