package driver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
)

// A Renewer renews many claims in one round trip.
type Renewer interface {
	// Renew requests each of the claims, all of which were queued before, and returns a result for each, in the same
	// order. An error is for the whole batch: nothing is known about any of them.
	//
	// If the engine renews by session, Renew also reads the claims that wait. Their Contended and Retry may be those of
	// an earlier answer: thousands may wait in one queue, and reading the whole queue for each of them would cost the
	// square of that. For the same reason a claim that shares, and had many ahead when those were read last, may learn
	// of its grant only when the client of the one just ahead has learned of that one's, or that one has ended.
	Renew(ctx context.Context, claims []Claim) ([]Result, error)
}

// renewAtOnce bounds the requests that Renew has under way for a driver that cannot batch.
const renewAtOnce = 8

// Renew renews the claims as [Renewer] says. If d is no Renewer, it sends one request for each, in no particular order:
// where many hang until ctx ends, those that wait behind them are not the same each time.
func Renew(ctx context.Context, d Driver, claims []Claim) ([]Result, error) {
	if r, ok := As[Renewer](d); ok {
		return r.Renew(ctx, claims)
	}
	results := make([]Result, len(claims))
	panics := make([]error, min(renewAtOnce, len(claims)))
	order := make(chan int, len(claims))
	for _, i := range rand.Perm(len(claims)) {
		order <- i
	}
	close(order)
	var wg sync.WaitGroup
	for worker := range panics {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panics[worker] = fmt.Errorf("%v\n\n%s", p, debug.Stack())
				}
			}()
			for i := range order {
				results[i].Status, results[i].Err = d.Request(ctx, claims[i])
			}
		})
	}
	wg.Wait()
	if p := errors.Join(panics...); p != nil {
		panic(p) // in the goroutine of the caller, as a Renewer does
	}
	return results, nil
}
