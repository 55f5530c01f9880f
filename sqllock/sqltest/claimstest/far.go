package claimstest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// oneWay is how long bytes take to a server that is not in the same rack.
const oneWay = time.Millisecond

// Bench measures one client of a server to which a round trip takes 2 ms: cycles of goroutines that have a lock each,
// and renewals of many leases.
func Bench(b *testing.B, start func(testing.TB) Store) {
	s := start(b).migrated(b)
	p := proxy.New(b, s.Addr)
	p.Delay(oneWay)
	for _, goroutines := range []int{1, 4, 32} {
		b.Run(fmt.Sprint("cycles/", goroutines), func(b *testing.B) {
			benchCycles(b, s.clientAt(b, p.Addr), goroutines)
		})
	}
	for _, callers := range []int{1, 8} {
		b.Run(fmt.Sprint("renewals/", callers), func(b *testing.B) { benchRenewals(b, s.clientAt(b, p.Addr), callers) })
	}
}

// together lets goroutines call f until it was called b.N times, and reports how often that is in a second.
func together(b *testing.B, goroutines int, f func(goroutine int)) {
	var calls atomic.Int64
	ended := make(chan struct{})
	b.ResetTimer()
	began := time.Now()
	for g := range goroutines {
		go func() {
			defer func() { ended <- struct{}{} }()
			for calls.Add(1) <= int64(b.N) {
				f(g)
			}
		}()
	}
	for range goroutines {
		<-ended
	}
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "calls/s")
}

func benchCycles(b *testing.B, d *drivertest.Facade, goroutines int) {
	name := mutex("").ID
	cycle := func(g int) {
		c := mutex(fmt.Sprint(name, g))
		st, err := d.Request(context.Background(), c)
		if err == nil && st.Granted {
			c.Token = st.Token
			err = d.Release(context.Background(), c)
		}
		if err != nil || !st.Granted {
			b.Errorf("%+v, %v", st, err)
		}
	}
	together(b, goroutines, cycle)
}

// benchRenewals renews batches like those of the library.
func benchRenewals(b *testing.B, d *drivertest.Facade, callers int) {
	const batch = 512
	batches := make([][]driver.Claim, callers)
	for g := range batches {
		name := mutex("").ID
		for i := range batch {
			batches[g] = append(batches[g], request(b, d, mutex(fmt.Sprint(name, i)), true))
		}
	}
	together(b, callers, func(g int) {
		results, err := d.Renew(context.Background(), batches[g])
		if err != nil || results[0].Err != nil {
			b.Errorf("%+v, %v", results, err)
		}
	})
}
