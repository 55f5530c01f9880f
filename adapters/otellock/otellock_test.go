package otellock_test

import (
	"context"
	"strconv"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/otellock"
	"github.com/holdfast-go/holdfast/memlock"
)

func TestObserver(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
	c := holdfast.New(memlock.New().Client(), holdfast.WithObserver(otellock.New(provider)))
	defer c.Close(context.Background())
	ctx, parent := provider.Tracer("test").Start(t.Context(), "work")
	lease, err := c.Mutex("m").Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Mutex("m").TryLock(ctx); err == nil {
		t.Fatal("held twice")
	}
	lease.Release(ctx)
	names := []string{"lock.acquire", "lock.acquire", "lock.hold"}
	acquired := []string{"true", "false", ""}
	ended := spans.Ended()
	if len(ended) != len(names) {
		t.Fatalf("%d spans", len(ended))
	}
	for i, span := range ended {
		attributes := make(map[string]string)
		for _, a := range span.Attributes() {
			attributes[string(a.Key)] = a.Value.String()
		}
		if span.Name() != names[i] || attributes["lock.acquired"] != acquired[i] || attributes["lock.name"] != "m" {
			t.Errorf("span %d: %s %v", i, span.Name(), attributes)
		}
		if span.Parent().SpanID() != parent.SpanContext().SpanID() || span.Status().Code == codes.Error {
			t.Errorf("span %d: parent %v, status %v", i, span.Parent(), span.Status())
		}
		if i != 1 && attributes["lock.token"] != strconv.FormatUint(lease.Token(), 10) {
			t.Errorf("span %d: token %s", i, attributes["lock.token"])
		}
	}
}
