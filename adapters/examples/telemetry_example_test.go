package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/otellock"
	"github.com/holdfast-go/holdfast/adapters/promlock"
)

func Example_prometheus() {
	registry := prometheus.NewRegistry()
	client := onRedis(holdfast.WithObserver(promlock.New(registry)))
	defer client.Close(context.Background())
	registry.MustRegister(promlock.NewCollector(client))
	err := client.Mutex("prometheus").Do(context.Background(), func(context.Context, *holdfast.Lease) error {
		families, err := registry.Gather()
		for _, f := range families {
			if f.GetName() == "holdfast_held" {
				fmt.Println(f.GetName(), f.GetMetric()[0].GetGauge().GetValue())
			}
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// holdfast_held 1
	// <nil>
}

// The span of the work is a child of that of the hold.
func Example_openTelemetry() {
	ctx, spans, reader := context.Background(), tracetest.NewInMemoryExporter(), metric.NewManualReader()
	tracers := trace.NewTracerProvider(trace.WithSyncer(spans))
	metrics, err := otellock.NewMetrics(metric.NewMeterProvider(metric.WithReader(reader)))
	if err != nil {
		log.Fatal(err)
	}
	client := onRedis(holdfast.WithObserver(holdfast.Observers(otellock.New(tracers), metrics)))
	defer client.Close(ctx)
	if _, err := metrics.Watch(client); err != nil {
		log.Fatal(err)
	}
	err = client.Mutex("otel").Do(ctx, func(ctx context.Context, _ *holdfast.Lease) error {
		_, work := tracers.Tracer("shop").Start(ctx, "work")
		work.End()
		return nil
	})
	names := make(map[string]string)
	for _, s := range spans.GetSpans() {
		names[s.SpanContext.SpanID().String()] = s.Name
	}
	for _, s := range spans.GetSpans() {
		fmt.Printf("%s in %q\n", s.Name, names[s.Parent.SpanID().String()])
	}
	var collected metricdata.ResourceMetrics
	fmt.Println(err, reader.Collect(ctx, &collected), len(collected.ScopeMetrics))
	// Output:
	// lock.acquire in ""
	// work in "lock.hold"
	// lock.hold in ""
	// <nil> <nil> 1
}
