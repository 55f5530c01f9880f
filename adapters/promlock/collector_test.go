package promlock_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/promlock"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
	"github.com/holdfast-go/holdfast/memlock"
)

// The gauges follow a lock from its grant through an outage to its loss.
func TestCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		client := holdfast.New(batch.Intercept(memlock.New(),
			func(_ context.Context, op driver.Op, next func(driver.Op) driver.Result) driver.Result {
				if op.Kind == driver.OpRequest && away.Load() {
					return driver.Result{Err: errors.New("connection refused")}
				}
				return next(op)
			}))
		defer client.Close(context.Background())
		r := prometheus.NewPedanticRegistry()
		r.MustRegister(promlock.NewCollector(client))
		lease, err := client.Mutex("m").Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		waits := make(chan struct{})
		go func() {
			client.Mutex("m").Lock(ctx)
			close(waits)
		}()
		synctest.Wait()
		expect(t, r, "holdfast_held", "1")
		expect(t, r, "holdfast_waiting", "1")
		expect(t, r, "holdfast_renewal_failures_total", "0")
		if n, err := testutil.GatherAndCount(r, "holdfast_validity_seconds"); n != 1 || err != nil {
			t.Errorf("%d validities, %v", n, err)
		}
		leave()
		<-waits
		away.Store(true)
		<-lease.Done()
		expect(t, r, "holdfast_held", "0")
		expect(t, r, "holdfast_waiting", "0")
		if n, err := testutil.GatherAndCount(r, "holdfast_validity_seconds"); n != 0 || err != nil {
			t.Errorf("%d validities of no lease, %v", n, err)
		}
		if client.Stats().FailedRenewals == 0 {
			t.Error("no renewal failed in an outage")
		}
		away.Store(false)
		time.Sleep(holdfast.DefaultTTL)
	})
}

func expect(t *testing.T, r *prometheus.Registry, name, value string) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			text := "# HELP " + name + " " + f.GetHelp() + "\n# TYPE " + name + " " +
				strings.ToLower(f.GetType().String()) + "\n" + name + `{backend="mem"} ` + value + "\n"
			if err := testutil.GatherAndCompare(r, strings.NewReader(text), name); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Errorf("no %s", name)
}
