package promlock_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/promlock"
	"github.com/holdfast-go/holdfast/memlock"
)

func TestObserver(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	c := holdfast.New(memlock.New().Client(), holdfast.WithObserver(promlock.New(r)),
		holdfast.WithMaxHold(time.Millisecond))
	defer c.Close(context.Background())
	lease, err := c.Mutex("m").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.RWMutex("m").TryRLock(t.Context()); err == nil {
		t.Fatal("held twice")
	}
	<-lease.Done() // by WithMaxHold
	want := `
# HELP holdfast_lost_total Leases that ended before they were released.
# TYPE holdfast_lost_total counter
holdfast_lost_total{backend="mem",kind="mutex",reason="max_hold"} 1
`
	awaitMetric(t, r, "holdfast_lost_total")
	if err := testutil.GatherAndCompare(r, strings.NewReader(want), "holdfast_lost_total"); err != nil {
		t.Error(err)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]uint64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				key += " " + l.GetValue()
			}
			counts[key] = m.GetHistogram().GetSampleCount()
		}
	}
	for _, key := range []string{"holdfast_acquire_seconds mem mutex acquired",
		"holdfast_acquire_seconds mem read not_acquired", "holdfast_hold_seconds mem mutex"} {
		if counts[key] != 1 {
			t.Errorf("%s: %d samples of %v", key, counts[key], counts)
		}
	}
}

// awaitMetric waits for the observer, which is told a moment after the lease has ended.
func awaitMetric(t *testing.T, r *prometheus.Registry, name string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if n, err := testutil.GatherAndCount(r, name); n > 0 && err == nil {
			return
		}
	}
	t.Fatalf("no %s", name)
}
