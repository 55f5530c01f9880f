package sqltest

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// BenchmarkCycle acquires and releases a lock that nobody else wants: two transactions, each on disk.
func BenchmarkCycle(b *testing.B) {
	d := openAt(b, filepath.Join(b.TempDir(), "locks.db"))
	n := 0
	for b.Loop() {
		n++
		c := driver.Claim{Name: "bench", ID: strconv.Itoa(n), Weight: 1, Limit: 1, TTL: 15 * time.Second}
		st, err := d.Request(b.Context(), c)
		if err != nil || !st.Granted {
			b.Fatal(st, err)
		}
		c.Token = st.Token
		if err := d.Release(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}
