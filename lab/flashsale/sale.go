// Package flashsale sells a small stock to many buyers at once, from several processes, as shops do and get wrong.
package flashsale

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/lab/testbed"
)

// A Plan is a sale.
type Plan struct {
	Buyers    int
	Stock     int
	Processes int
	Pay       time.Duration // what a purchase takes between looking at the stock and writing it
	Lock      Lock
	Backend   testbed.Backend // where Holdfast keeps the lock
	Database  Database        // where the stock is
}

// A Lock is what keeps buyers apart.
type Lock string

const (
	NoLock   Lock = "none"
	Local    Lock = "local"    // a mutex in each process
	Holdfast Lock = "holdfast" // a lock that all processes share
)

// A Result is how a sale went.
type Result struct {
	Lock      Lock    `json:"lock"`
	Backend   string  `json:"backend,omitempty"`
	Database  string  `json:"database"`
	Processes int     `json:"processes"`
	Buyers    int     `json:"buyers"`
	Stock     int     `json:"stock"`
	Sold      int     `json:"sold"`     // receipts
	Left      int     `json:"left"`     // what the database says is left
	Oversold  int     `json:"oversold"` // receipts for which there is nothing
	Seconds   float64 `json:"seconds"`
	Requests  int64   `json:"requests"` // to the lock's server, or -1 where they are not counted
	WaitP50   float64 `json:"wait_p50_ms"`
	WaitP99   float64 `json:"wait_p99_ms"`
	// Jain's index of what each process sold: 1 is even, 1/processes is all to one
	Fairness float64 `json:"fairness"`
	Missing  string  `json:"missing,omitempty"` // what is not installed: there was no sale
	Err      string  `json:"error,omitempty"`   // what went wrong: there is no result
}

// Exact reports whether what was there was sold, and nothing else.
func (r Result) Exact() bool {
	return r.Missing == "" && r.Err == "" && r.Sold == min(r.Stock, r.Buyers) && r.Left == r.Stock-r.Sold
}

// AsExpected reports whether the sale went as this lock makes it go: exact if it reaches all processes, wrong
// otherwise.
func (r Result) AsExpected() bool {
	if r.Missing != "" {
		return true
	}
	reaches := r.Lock == Holdfast || r.Lock == Local && r.Processes == 1
	return r.Err == "" && r.Exact() == reaches
}

// Hold holds the sale on servers that it starts. Progress is called now and then with the number of buyers served.
func Hold(ctx context.Context, p Plan, progress func(served int)) Result {
	var r Result
	missing, err := testbed.Outside(ctx, func(t testing.TB) (err error) {
		r, err = p.hold(t, progress)
		return err
	})
	if missing == "" && err == nil {
		return r
	}
	r = p.result()
	r.Missing = missing
	if err != nil {
		r.Err = err.Error()
	}
	return r
}

func (p Plan) result() Result {
	r := Result{Lock: p.Lock, Database: p.Database.Name, Processes: p.Processes, Buyers: p.Buyers, Stock: p.Stock,
		Requests: -1}
	if p.Lock == Holdfast {
		r.Backend = p.Backend.Name
	}
	return r
}

// hold opens the shop, sends buyers to it, and looks what they left.
func (p Plan) hold(t testing.TB, progress func(int)) (r Result, err error) {
	if p.Buyers < 1 || p.Stock < 0 || p.Processes < 1 || p.Processes > p.Buyers {
		return r, errors.New("a sale needs buyers, a stock, and at most as many processes as buyers")
	}
	source := p.Database.Start(t)
	order := Order{Database: p.Database.Name, Source: source, Pay: p.Pay, Lock: p.Lock}
	meter := func() (int64, bool) { return 0, false }
	if p.Lock == Holdfast {
		order.URL, meter = p.Backend.Counted(t)
		if p.Backend.Alone {
			p.Processes = 1
		}
	}
	shop, err := open(t.Context(), p.Database.Name, source)
	if err != nil {
		return r, err
	}
	defer shop.Close()
	if err := shop.Fill(t.Context(), p.Stock); err != nil {
		return r, err
	}
	r = p.result()
	crowd, err := p.crowd(t.Context(), order, meter, progress)
	if err != nil {
		return r, err
	}
	crowd.describe(&r)
	r.Left, r.Sold, err = shop.Count(t.Context())
	r.Oversold = max(0, r.Sold-r.Stock)
	if err == nil && crowd.sold != r.Sold {
		err = fmt.Errorf("buyers were told of %d sales, and there are receipts for %d", crowd.sold, r.Sold)
	}
	return r, err
}
