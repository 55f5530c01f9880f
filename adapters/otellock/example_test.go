package otellock_test

import (
	"context"
	"log"

	"go.opentelemetry.io/otel"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/otellock"
)

func ExampleNew() {
	client, err := holdfast.Open(context.Background(), "mem:traces",
		holdfast.WithObserver(otellock.New(otel.GetTracerProvider())))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.Background())
}

func ExampleNewMetrics() {
	metrics, err := otellock.NewMetrics(otel.GetMeterProvider())
	if err != nil {
		log.Fatal(err)
	}
	traces := otellock.New(otel.GetTracerProvider())
	client, err := holdfast.Open(context.Background(), "mem:metrics",
		holdfast.WithObserver(holdfast.Observers(traces, metrics)))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.Background())
	registration, err := metrics.Watch(client)
	if err != nil {
		log.Fatal(err)
	}
	defer registration.Unregister()
}
