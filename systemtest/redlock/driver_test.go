package redlock

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/effort"
)

func TestDriver(t *testing.T) {
	effort.Raced(t)
	for _, n := range []int{3, 5} {
		t.Run(fmt.Sprintf("%d servers", n), func(t *testing.T) {
			if n > 3 {
				effort.Long(t)
			}
			t.Parallel()                          // with the other number only: most rows wait for time to pass
			c := startFresh(t, n, 10*time.Minute) // far more than a test takes
			drivertest.Run(t, drivertest.Harness{
				Open: func(t testing.TB) driver.Driver { return open(t, c.url()) },
				TTL:  time.Second, // a busy machine stalls for longer than the shortest

				// A server that stalls for longer than it is waited for leaves open what became of a request.
				Elects: true,
			})
		})
	}
}
