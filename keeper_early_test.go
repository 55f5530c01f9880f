package holdfast_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/memlock"
)

// Holders of many leases that look at them for the first time do not have all of them renewed at once.
func TestFirstLooksAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := overLine(memlock.New())
		c := newClient(t, l)
		const leases = 2000
		var all holdfast.Leases
		for i := range leases {
			all = append(all, must(c.Mutex(strconv.Itoa(i)).Lock(t.Context()))(t))
		}
		if err := all.Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl / 30)
		if n := l.count("renewed claim"); n == 0 || n > leases/2 {
			t.Errorf("%d of %d claims were renewed within %v", n, leases, ttl/30)
		}
		time.Sleep(2 * ttl)
		if err := all.Err(); err != nil {
			t.Error(err)
		}
	})
}
