package zklock

import "github.com/holdfast-go/holdfast/driver"

// WithFormat makes a driver write records of another version, as another release of this package would.
func (d *Driver) WithFormat(version int) *Driver {
	d.format = version
	return d
}

// ThisFormat is the version that this release writes.
const ThisFormat = recordFormat

// problem is why the newest attempt to connect has failed; nil when it has not.
func (l *link) problem() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// IsSure reports whether a claim of this client knows that the end of the one ahead grants it.
func (d *Driver) IsSure(c driver.Claim) bool { return d.claims.Known(c).Verdict().Sure }
