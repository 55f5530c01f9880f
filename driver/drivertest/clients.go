package drivertest

import (
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
)

// clients are lent to one test after the other: to open one costs some servers more than all that a test asks of it,
// and what a client keeps of other locks must make no difference.
type clients struct {
	suite testing.TB // they are closed at its end
	open  func(testing.TB) driver.Driver

	mu   sync.Mutex
	idle []*Facade
}

// lend returns a client that nobody else uses until the test ends. A test that failed gives none back.
func (c *clients) lend(t testing.TB) driver.Driver {
	d := c.take()
	if d == nil {
		d = NewFacade(c.open(c.suite))
	}
	t.Cleanup(func() {
		if !t.Failed() {
			c.giveBack(d)
		}
	})
	return d
}

// take returns a client that nobody uses; nil if there is none.
func (c *clients) take() (d *Facade) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := len(c.idle) - 1; last >= 0 {
		d, c.idle = c.idle[last], c.idle[:last]
	}
	return d
}

func (c *clients) giveBack(d *Facade) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, d)
}
