package otellock

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/holdfast-go/holdfast"
)

// Metrics measure what happens to locks. Metrics is an observer, safe for concurrent use. The names of locks are not
// attributes, because there may be any number of them.
type Metrics struct {
	wait, hold metric.Float64Histogram
	lost       metric.Int64Counter

	held, waiting metric.Int64ObservableGauge
	validity      metric.Float64ObservableGauge
	failures      metric.Int64ObservableCounter
	meter         metric.Meter
}

// NewMetrics returns an observer that records these metrics, all with the attribute lock.backend:
//
//	lock.acquire.duration    s, histogram; with lock.kind and lock.result: acquired, not_acquired, unknown or error
//	lock.hold.duration       s, histogram; with lock.kind
//	lock.lost                counter; with lock.kind and lock.reason: expired, gone, max_hold or other
//
// and, for the clients that Watch is given:
//
//	lock.held                locks that are held
//	lock.waiting             calls that wait for a lock
//	lock.validity            s; how long the first lease lasts unless it is renewed before
//	lock.renewal.failures    renewals that failed; a lease outlasts a few
func NewMetrics(p metric.MeterProvider) (*Metrics, error) {
	m := p.Meter(scope)
	var errs [7]error
	ms := &Metrics{meter: m}
	ms.wait, errs[0] = m.Float64Histogram("lock.acquire.duration", metric.WithUnit("s"), buckets)
	ms.hold, errs[1] = m.Float64Histogram("lock.hold.duration", metric.WithUnit("s"), buckets)
	ms.lost, errs[2] = m.Int64Counter("lock.lost")
	ms.held, errs[3] = m.Int64ObservableGauge("lock.held")
	ms.waiting, errs[4] = m.Int64ObservableGauge("lock.waiting")
	ms.validity, errs[5] = m.Float64ObservableGauge("lock.validity", metric.WithUnit("s"))
	ms.failures, errs[6] = m.Int64ObservableCounter("lock.renewal.failures")
	return ms, errors.Join(errs[:]...)
}

// buckets are in seconds: from a local hand-off to a nightly job.
var buckets = metric.WithExplicitBucketBoundaries(.0001, .001, .005, .01, .05, .1, .5, 1, 5, 15, 60, 300, 1800, 7200)

// Watch reads the client's figures whenever metrics are collected, until the registration is unregistered. Several
// clients of one backend need attributes that tell them apart.
func (ms *Metrics) Watch(client *holdfast.Client, attributes ...attribute.KeyValue) (metric.Registration, error) {
	return ms.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := client.Stats()
		as := metric.WithAttributes(append(attributes[:len(attributes):len(attributes)], backend(s.Backend))...)
		o.ObserveInt64(ms.held, int64(s.Held), as)
		o.ObserveInt64(ms.waiting, int64(s.Waiting), as)
		o.ObserveInt64(ms.failures, int64(s.FailedRenewals), as)
		if s.Held > 0 {
			o.ObserveFloat64(ms.validity, s.Validity.Seconds(), as)
		}
		return nil
	}, ms.held, ms.waiting, ms.failures, ms.validity)
}

// Observe implements [holdfast.Observer].
func (ms *Metrics) Observe(ctx context.Context, e holdfast.Event) {
	kind := attribute.String("lock.kind", e.Kind)
	with := func(more ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributes(append(more, backend(e.Backend), kind)...)
	}
	switch e.Op {
	case holdfast.OpAcquire:
		ms.wait.Record(ctx, e.Took.Seconds(), with(attribute.String("lock.result", e.Outcome())))
	case holdfast.OpRelease:
		ms.hold.Record(ctx, e.Took.Seconds(), with())
	case holdfast.OpLose:
		ms.hold.Record(ctx, e.Took.Seconds(), with())
		ms.lost.Add(ctx, 1, with(attribute.String("lock.reason", e.Outcome())))
	}
}

func backend(name string) attribute.KeyValue { return attribute.String("lock.backend", name) }
