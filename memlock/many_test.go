package memlock_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
)

// To renew many that share a lock takes about as much memory as to renew many that have a lock each. If each of them
// were to copy all others, nobody could use the store for seconds.
func TestManyShare(t *testing.T) {
	d := open()
	var apart, sharing []driver.Claim
	for i := range 2000 {
		reader := claimed.Mutex("m", time.Hour)
		reader.Limit = driver.All
		apart = append(apart, claimed.Acquire(t, d, claimed.Mutex(fmt.Sprint(i), time.Hour)))
		sharing = append(sharing, claimed.Acquire(t, d, reader))
	}
	usual, shared := claimed.Renewing(t, d, apart), claimed.Renewing(t, d, sharing)
	t.Logf("%d bytes, and %d where they share a lock", usual, shared)
	if shared > 3*usual {
		t.Errorf("a batch of renewals allocates %d bytes, and %d where all share a lock", usual, shared)
	}
}

// The next in line asks again when the first of those ahead expires, however soon it would expire itself.
func TestRetryOfTheNext(t *testing.T) {
	d := open()
	for _, holders := range [][]time.Duration{{time.Hour}, {time.Hour, 2 * time.Hour}, {2 * time.Hour, time.Hour}} {
		c := driver.Claim{Name: fmt.Sprint(holders), Weight: 1, Limit: int64(len(holders)), Queue: true}
		for _, c.TTL = range holders {
			c.ID = driver.NewID()
			claimed.Acquire(t, d, c)
		}
		c.ID, c.TTL = driver.NewID(), time.Minute
		st, err := d.Request(t.Context(), c)
		if err != nil || st.Granted || st.Retry > time.Hour || st.Retry < 30*time.Minute {
			t.Errorf("behind %v: %+v, %v", holders, st, err)
		}
	}
}
