package memlock_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// do does one operation, whose result does not matter.
func do(b *testing.B, d driver.Driver, kind driver.Kind, c driver.Claim) {
	d.Do(b.Context(), []driver.Op{{Kind: kind, Claim: c}}, func(int, driver.Result) {})
}

// BenchmarkUncontended takes and gives back a lock that nobody else wants.
func BenchmarkUncontended(b *testing.B) {
	d := memlock.New()
	for i := 0; b.Loop(); i++ {
		c := mutex(fmt.Sprint(i))
		do(b, d, driver.OpRequest, c)
		do(b, d, driver.OpRelease, c)
	}
}

// BenchmarkHandoff passes a lock along a queue that stays as long as it is.
func BenchmarkHandoff(b *testing.B) {
	for _, waiters := range []int{1, 1000} {
		b.Run(fmt.Sprint(waiters), func(b *testing.B) {
			d := memlock.New()
			for i := range waiters + 1 {
				do(b, d, driver.OpRequest, mutex(fmt.Sprint(i)))
			}
			for i := 0; b.Loop(); i++ {
				do(b, d, driver.OpRelease, mutex(fmt.Sprint(i)))
				do(b, d, driver.OpRequest, mutex(fmt.Sprint(i+waiters+1)))
			}
		})
	}
}
