package drivertest

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// BenchmarkAlone measures cycles of request and release for goroutines that have a lock each: with each operation sent
// alone, and once for each of these values of Traits.Alone. A driver has the smallest that makes nothing slower, or 0
// where 64 goroutines gain little by the best of them.
func BenchmarkAlone(b *testing.B, d driver.Driver, alone ...int) {
	for _, names := range []int{1, 3, 8, 16, 64} {
		for _, n := range append([]int{0}, alone...) {
			b.Run(fmt.Sprintf("names=%d/alone=%d", names, n), func(b *testing.B) {
				s := batch.New(Gather(d, n, d.Traits().MaxInFlight), nil)
				ids := rand.Text() // no claim may have the ID of another one, of an earlier run either
				var begun atomic.Int64
				var all sync.WaitGroup
				for i := range names {
					all.Go(func() {
						for name := fmt.Sprint("own ", i); ; {
							n := begun.Add(1)
							if n > int64(b.N) || !cycle(b, s, name, fmt.Sprint(ids, n)) {
								return
							}
						}
					})
				}
				all.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
			})
		}
	}
}

// cycle acquires a lock and releases it.
func cycle(b *testing.B, s *batch.Sender, name, id string) bool {
	const limit = time.Minute
	c := driver.Claim{Name: name, ID: id, TTL: limit, Weight: 1, Limit: 1, Queue: true}
	r := s.Do(context.Background(), driver.Op{Kind: driver.OpRequest, Claim: c}, limit)
	if r.Err != nil || !r.Status.Granted {
		b.Errorf("the request got %+v", r.Result)
		return false
	}
	c.Token = r.Status.Token
	if r = s.Do(context.Background(), driver.Op{Kind: driver.OpRelease, Claim: c}, limit); r.Err != nil {
		b.Error("the release got", r.Err)
		return false
	}
	return true
}
