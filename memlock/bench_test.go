package memlock_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/memlock"
)

// BenchmarkUncontended takes and gives back a lock that nobody else wants.
func BenchmarkUncontended(b *testing.B) {
	d := memlock.New()
	for i := 0; b.Loop(); i++ {
		c := mutex(fmt.Sprint(i))
		d.Request(b.Context(), c)
		d.Release(b.Context(), c)
	}
}

// BenchmarkHandoff passes a lock along a queue that stays as long as it is.
func BenchmarkHandoff(b *testing.B) {
	for _, waiters := range []int{1, 1000} {
		b.Run(fmt.Sprint(waiters), func(b *testing.B) {
			d := memlock.New()
			for i := range waiters + 1 {
				d.Request(b.Context(), mutex(fmt.Sprint(i)))
			}
			for i := 0; b.Loop(); i++ {
				d.Release(b.Context(), mutex(fmt.Sprint(i)))
				d.Request(b.Context(), mutex(fmt.Sprint(i+waiters+1)))
			}
		})
	}
}
