package otellock_test

import (
	"context"
	"log"

	"go.opentelemetry.io/otel"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/otellock"
)

func ExampleNew() {
	client, err := holdfast.Open(context.Background(), "mem:traces", holdfast.WithObserver(otellock.New(otel.GetTracerProvider())))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.Background())
}
