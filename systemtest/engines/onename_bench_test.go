package engines

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast"

	_ "github.com/holdfast-go/holdfast/memlock"
	_ "modernc.org/sqlite"
)

// BenchmarkOneName measures a cycle on a name that is new, and on one that had 10,000: what a cycle leaves behind must
// not be in the way of the next.
func BenchmarkOneName(b *testing.B) { benchEach(b, cyclesOnOneName) }

// benchEach runs a benchmark on each backend.
func benchEach(b *testing.B, bench func(b *testing.B, url string)) {
	b.Run("memory", func(b *testing.B) { bench(b, "mem:job") })
	b.Run("file", func(b *testing.B) { bench(b, "file:"+filepath.Join(b.TempDir(), "locks")) })
	for _, name := range slices.Sorted(maps.Keys(stores)) {
		b.Run(name, func(b *testing.B) {
			urls := stores[name](b).urls
			for _, backend := range slices.Sorted(maps.Keys(urls)) {
				b.Run(backend, func(b *testing.B) { bench(b, urls[backend]) })
			}
		})
	}
}

func cyclesOnOneName(b *testing.B, url string) {
	c, err := holdfast.Open(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(b.Context())
	m := c.Mutex("job")
	cycle := func(b *testing.B) {
		l, err := m.Lock(b.Context())
		if err == nil {
			err = l.Release(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	measure := func(b *testing.B) {
		for b.Loop() {
			cycle(b)
		}
	}
	b.Run("new", measure)
	for range 10_000 {
		cycle(b)
	}
	b.Run("after 10000", measure)
}
