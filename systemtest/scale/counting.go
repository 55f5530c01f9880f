package scale

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/driver"
)

// counting is a driver that counts what is renewed through it, and how many goroutines there are meanwhile.
type counting struct {
	driver.Driver

	mu         sync.Mutex
	batches    int
	renewed    int
	goroutines int // the most that there were during a renewal
	goal       int
	reached    chan struct{} // closed when as many as goal were renewed
}

func (d *counting) Unwrap() driver.Driver { return d.Driver }

// Do implements [driver.Driver]. It counts batches of renewals, and in them only claims that the server still had.
func (d *counting) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	var renewed atomic.Int64
	d.Driver.Do(ctx, ops, func(i int, r driver.Result) {
		if ops[i].Brief && r.Err == nil && r.Status.Granted {
			renewed.Add(1)
		}
		done(i, r)
	})
	if slices.ContainsFunc(ops, func(op driver.Op) bool { return op.Brief }) {
		d.count(int(renewed.Load()))
	}
}

func (d *counting) count(renewed int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.batches++
	before := d.renewed
	d.renewed += renewed
	d.goroutines = max(d.goroutines, runtime.NumGoroutine())
	if before < d.goal && d.renewed >= d.goal {
		close(d.reached)
	}
}

// after begins to count anew, and returns a channel that is closed when n renewals have succeeded.
func (d *counting) after(n int) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.batches, d.renewed, d.goroutines, d.goal, d.reached = 0, 0, 0, n, make(chan struct{})
	return d.reached
}

func (d *counting) totals() (batches, renewed, goroutines int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.batches, d.renewed, d.goroutines
}
