// Package otellock traces locks with OpenTelemetry: a span for each wait, and one for each time a lock was held.
//
//	client, err := holdfast.Open(ctx, url, holdfast.WithObserver(otellock.New(otel.GetTracerProvider())))
package otellock

import (
	"context"
	"errors"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast"
)

// An Observer makes spans of what happens to locks. It is safe for concurrent use.
type Observer struct{ tracer trace.Tracer }

// New returns an observer that makes these spans, as children of the span in the context of the call:
//
//	lock.acquire   from the call of Lock, Acquire and so on to its return
//	lock.hold      from there to the release or the loss
//
// Their attributes are lock.name, lock.kind, lock.backend and lock.token, the last as decimal text. A lock that was taken
// is an outcome and not an error: lock.acquired tells.
func New(p trace.TracerProvider) *Observer {
	return &Observer{tracer: p.Tracer("github.com/holdfast-go/holdfast")}
}

// Observe implements [holdfast.Observer].
func (o *Observer) Observe(ctx context.Context, e holdfast.Event) {
	name := "lock.hold"
	attributes := []attribute.KeyValue{
		attribute.String("lock.name", e.Name), attribute.String("lock.kind", e.Kind), attribute.String("lock.backend", e.Backend),
	}
	if e.Token != 0 {
		attributes = append(attributes, attribute.String("lock.token", strconv.FormatUint(e.Token, 10)))
	}
	if e.Op == holdfast.OpAcquire {
		name = "lock.acquire"
		attributes = append(attributes, attribute.Bool("lock.acquired", e.Err == nil))
	}
	_, span := o.tracer.Start(ctx, name, trace.WithTimestamp(e.Start), trace.WithAttributes(attributes...))
	if e.Err != nil && !errors.Is(e.Err, holdfast.ErrNotAcquired) {
		span.RecordError(e.Err)
		span.SetStatus(codes.Error, e.Err.Error())
	}
	span.End(trace.WithTimestamp(e.Start.Add(e.Took)))
}
