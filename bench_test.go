package holdfast_test

import (
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/memlock"
)

// BenchmarkUncontended takes and releases a lock that nobody else wants, on a backend that costs next to nothing.
func BenchmarkUncontended(b *testing.B) {
	for name, opts := range map[string][]holdfast.Option{"gate": nil, "claim": {holdfast.WithLocalHandoff(0)}} {
		m := newClient(b, memlock.New(), opts...).Mutex("m")
		b.Run(name+"/Lock", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(m.Lock(b.Context()))(b).Release(b.Context())
			}
		})
		b.Run(name+"/TryLock", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(m.TryLock(b.Context()))(b).Release(b.Context())
			}
		})
	}
}
