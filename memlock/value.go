package memlock

import "github.com/holdfast-go/holdfast/driver"

// setValue keeps a value for the next holder, if the claim is granted.
func (l *lock) setValue(c driver.Claim, v driver.Value) error {
	if place, ok := l.find(c); !ok || place >= l.granted {
		return driver.ErrGone
	}
	write, err := v.Supersede(l.value)
	if write {
		l.value = v
	}
	return err
}
