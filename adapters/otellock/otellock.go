// Package otellock traces and measures locks with OpenTelemetry.
//
//	traces := otellock.New(otel.GetTracerProvider())
//	metrics, err := otellock.NewMetrics(otel.GetMeterProvider())
//	client, err := holdfast.Open(ctx, url, holdfast.WithObserver(holdfast.Observers(traces, metrics)))
//	registration, err := metrics.Watch(client)
package otellock

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast"
)

// scope names this package to OpenTelemetry.
const scope = "github.com/holdfast-go/holdfast"

// An Observer makes spans of what happens to locks. It is safe for concurrent use.
type Observer struct{ tracer trace.Tracer }

// New returns an observer that makes these spans, as children of the span in the context of the call:
//
//	lock.acquire   from the call of Lock, Acquire and so on to its return
//	lock.hold      from there to the release or the loss
//
// The work under a lock nests in lock.hold: that is the span in the context which Do gives to it, and in
// [holdfast.Lease.Context]. Their attributes are lock.name, lock.kind, lock.backend and lock.token, the last as decimal
// text. A lock that was taken is an outcome and not an error: lock.acquired tells.
func New(p trace.TracerProvider) *Observer { return &Observer{tracer: p.Tracer(scope)} }

// Observe implements [holdfast.Observer].
func (o *Observer) Observe(ctx context.Context, e holdfast.Event) {
	if e.Op != holdfast.OpAcquire {
		return // Enter's span tells
	}
	_, span := o.start(ctx, "lock.acquire", e.Start,
		append(attributes(e), attribute.Bool("lock.acquired", e.Err == nil)))
	end(span, e)
}

// Enter implements [holdfast.Scoper].
func (o *Observer) Enter(ctx context.Context, e holdfast.Event) (context.Context, func(holdfast.Event)) {
	inside, span := o.start(ctx, "lock.hold", e.Start.Add(e.Took), attributes(e))
	return inside, func(e holdfast.Event) { end(span, e) }
}

func (o *Observer) start(
	ctx context.Context, name string, at time.Time, attributes []attribute.KeyValue,
) (context.Context, trace.Span) {
	return o.tracer.Start(ctx, name, trace.WithTimestamp(at), trace.WithAttributes(attributes...))
}

func end(span trace.Span, e holdfast.Event) {
	if e.Err != nil && !errors.Is(e.Err, holdfast.ErrNotAcquired) {
		err := readable(e.Err)
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	span.End(trace.WithTimestamp(e.Start.Add(e.Took)))
}

func attributes(e holdfast.Event) []attribute.KeyValue {
	as := []attribute.KeyValue{
		attribute.String("lock.name", text(e.Name)), attribute.String("lock.kind", e.Kind),
		attribute.String("lock.backend", e.Backend),
	}
	if e.Token != 0 {
		as = append(as, attribute.String("lock.token", strconv.FormatUint(e.Token, 10)))
	}
	return as
}

// text is the name of a lock, which is bytes, as an attribute takes it: exporters send no spans at all beside one that
// has what is no UTF-8.
func text(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

// readable is the same for an error, which may have the words of a server in it.
func readable(err error) error {
	if said := err.Error(); !utf8.ValidString(said) {
		return errors.New(text(said))
	}
	return err
}

var _ holdfast.Scoper = (*Observer)(nil)
