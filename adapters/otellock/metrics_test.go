package otellock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/otellock"
	"github.com/holdfast-go/holdfast/memlock"
)

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := metric.NewManualReader()
		metrics, err := otellock.NewMetrics(metric.NewMeterProvider(metric.WithReader(reader)))
		if err != nil {
			t.Fatal(err)
		}
		client := holdfast.New(memlock.New().Client(), holdfast.WithObserver(metrics))
		defer client.Close(context.Background())
		registration, err := metrics.Watch(client, attribute.String("client", "one"))
		if err != nil {
			t.Fatal(err)
		}
		defer registration.Unregister()
		lease, err := client.Mutex("m", holdfast.WithMaxHold(time.Minute)).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Mutex("m").TryLock(t.Context()); !errors.Is(err, holdfast.ErrNotAcquired) {
			t.Fatal(err)
		}
		got := collect(t, reader)
		if got["lock.held"] != 1 || got["lock.waiting"] != 0 || got["lock.renewal.failures"] != 0 ||
			got["lock.validity"] <= 0 {
			t.Errorf("while it is held: %v", got)
		}
		if got["lock.acquire.duration"] != 2 || got["lock.hold.duration"] != 0 {
			t.Errorf("two were acquired or refused: %v", got)
		}
		<-lease.Done() // by WithMaxHold
		synctest.Wait()
		got = collect(t, reader)
		if _, there := got["lock.validity"]; got["lock.held"] != 0 || got["lock.lost"] != 1 || there {
			t.Errorf("after its loss: %v", got)
		}
		if got["lock.hold.duration"] != 1 {
			t.Errorf("it was held once: %v", got)
		}
	})
}

// collect returns the sum of all points of each metric; of histograms their counts.
func collect(t *testing.T, reader metric.Reader) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	sums := make(map[string]float64)
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Gauge[int64]:
				add(sums, m.Name, data.DataPoints)
			case metricdata.Gauge[float64]:
				add(sums, m.Name, data.DataPoints)
			case metricdata.Sum[int64]:
				add(sums, m.Name, data.DataPoints)
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					sums[m.Name] += float64(p.Count)
				}
			}
		}
	}
	return sums
}

func add[N int64 | float64](sums map[string]float64, name string, points []metricdata.DataPoint[N]) {
	for _, p := range points {
		sums[name] += float64(p.Value)
	}
}
