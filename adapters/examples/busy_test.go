package examples

import (
	"context"
	"errors"
	"testing"

	"github.com/riverqueue/river"
)

// A job that finds its customer busy comes back after a while, and not at once: it would run in a circle, and write to
// the database each time.
func TestBusyCustomer(t *testing.T) {
	client := onRedis()
	defer client.Close(context.Background())
	lease, err := client.Mutex("customer/7").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release(context.Background())
	w := &Charger{client: client}
	err = w.Work(t.Context(), &river.Job[ChargeArgs]{Args: ChargeArgs{Customer: "7"}})
	var snooze *river.JobSnoozeError
	if !errors.As(err, &snooze) || snooze.Duration <= 0 {
		t.Errorf("got %v, want a snooze that takes some time", err)
	}
}
