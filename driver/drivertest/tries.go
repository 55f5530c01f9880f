package drivertest

import (
	"context"
	"errors"
	"sync"

	"github.com/holdfast-go/holdfast/driver"
)

// A trier is a driver that is told of each operation whether it was tried before, as clients of package holdfast tell
// it. The triers of a test share what was tried.
type trier struct {
	driver.Driver
	tried *sync.Map // requests by ID, and releases by ID and token
}

type triedRelease struct {
	id    string
	token uint64
}

// Do implements [driver.Driver].
func (d trier) Do(ctx context.Context, ops []driver.Op, done func(int, driver.Result)) {
	told := make([]driver.Op, len(ops))
	for i, op := range ops {
		op.Try = d.try(op)
		told[i] = op
	}
	d.Driver.Do(ctx, told, func(i int, r driver.Result) {
		if told[i].Try == driver.TryAgain && errors.Is(r.Err, driver.ErrUnknown) {
			r.Err = nil // no claim of these tests has expired meanwhile: the release before this one was applied
		}
		done(i, r)
	})
}

func (d trier) try(op driver.Op) driver.Try {
	switch c := op.Claim; {
	case op.Kind == driver.OpRequest:
		if _, again := d.tried.LoadOrStore(c.ID, true); !again && c.Token == 0 {
			return driver.TryFirst
		}
	case op.Kind == driver.OpRelease:
		if _, again := d.tried.LoadOrStore(triedRelease{c.ID, c.Token}, true); again {
			return driver.TryAgain
		}
	}
	return 0
}

// Unwrap implements [driver.Wrapper].
func (d trier) Unwrap() driver.Driver { return d.Driver }
