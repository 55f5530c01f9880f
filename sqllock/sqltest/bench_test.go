package sqltest

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// BenchmarkAlone shows what gathering gains. docs/speed.md says why the driver's Traits.Alone is what it is.
func BenchmarkAlone(b *testing.B) {
	drivertest.BenchmarkAlone(b, open(b, newFile(b)).Unwrap(), 1, 2, 4)
}

// BenchmarkLocks takes and gives back locks as users do: each goroutine its own, or all the same.
func BenchmarkLocks(b *testing.B) {
	for _, n := range []struct{ goroutines, names int }{{1, 1}, {64, 64}, {8, 1}} {
		b.Run(fmt.Sprintf("goroutines=%d/names=%d", n.goroutines, n.names), func(b *testing.B) {
			c, err := holdfast.Open(b.Context(), fileURL(newFile(b)))
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close(b.Context())
			var begun atomic.Int64
			var all sync.WaitGroup
			for i := range n.goroutines {
				all.Go(func() {
					m := c.Mutex(fmt.Sprint("m", i%n.names))
					for begun.Add(1) <= int64(b.N) {
						l, err := m.Lock(b.Context())
						if err == nil {
							err = l.Release(b.Context())
						}
						if err != nil {
							b.Error(err)
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

// BenchmarkUncontended takes and gives back a lock that nobody else wants.
func BenchmarkUncontended(b *testing.B) {
	d := open(b, newFile(b))
	for b.Loop() {
		c := mutex("m")
		st, err := d.Request(b.Context(), c)
		if err != nil || !st.Granted {
			b.Fatal(st, err)
		}
		if err := d.Release(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRenew renews 100 claims at once.
func BenchmarkRenew(b *testing.B) {
	d := open(b, newFile(b))
	var claims []driver.Claim
	for range 100 {
		c := mutex(rand.Text())
		d.Request(b.Context(), c)
		claims = append(claims, c)
	}
	for b.Loop() {
		if _, err := d.Renew(b.Context(), claims); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkQueued takes a lock for which 1,000 wait, gives it back, and lets the next have it.
func BenchmarkQueued(b *testing.B) {
	d := open(b, newFile(b))
	var queue []driver.Claim
	join := func() {
		queue = append(queue, mutex("m"))
		if _, err := d.Request(b.Context(), queue[len(queue)-1]); err != nil {
			b.Fatal(err)
		}
	}
	for range 1000 {
		join()
	}
	for b.Loop() {
		join()
		if err := d.Release(b.Context(), queue[0]); err != nil {
			b.Fatal(err)
		}
		queue = queue[1:]
		if st, err := d.Wait(b.Context(), queue[0]); err != nil || !st.Granted {
			b.Fatal(st, err)
		}
	}
}

// BenchmarkHandoff passes a lock to and fro between two clients.
func BenchmarkHandoff(b *testing.B) {
	path := newFile(b)
	one, two := open(b, path), open(b, path)
	held := mutex("m")
	one.Request(b.Context(), held)
	for b.Loop() {
		next := mutex("m")
		two.Request(b.Context(), next)
		got := make(chan error, 1)
		go func() {
			_, err := two.Wait(context.Background(), next)
			got <- err
		}()
		if err := one.Release(b.Context(), held); err != nil {
			b.Fatal(err)
		}
		if err := <-got; err != nil {
			b.Fatal(err)
		}
		one, two, held = two, one, next
	}
}
