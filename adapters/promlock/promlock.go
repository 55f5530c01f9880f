// Package promlock counts and times locks for Prometheus.
//
//	client, err := holdfast.Open(ctx, url, holdfast.WithObserver(promlock.New(prometheus.DefaultRegisterer)))
//	prometheus.MustRegister(promlock.NewCollector(client))
//
// The observer counts and times what has happened; the collector shows the present.
package promlock

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-go/holdfast"
)

// An Observer measures what happens to locks. It is safe for concurrent use. The names of locks are not labels, because
// there may be any number of them.
type Observer struct {
	wait *prometheus.HistogramVec
	hold *prometheus.HistogramVec
	lost *prometheus.CounterVec
}

// seconds are the buckets: from a local hand-off to a nightly job.
var seconds = []float64{.0001, .001, .005, .01, .05, .1, .5, 1, 5, 15, 60, 300, 1800, 7200}

// New returns an observer whose metrics are registered with r:
//
//	holdfast_acquire_seconds{backend,kind,result}   how long acquiring took;
//	                                                result is acquired, not_acquired, unknown or error
//	holdfast_hold_seconds{backend,kind}             how long locks were held, lost ones included
//	holdfast_lost_total{backend,kind,reason}        leases that were lost
//
// It panics if r has metrics of these names already, as [prometheus.Registerer.MustRegister] does.
func New(r prometheus.Registerer) *Observer {
	o := &Observer{
		wait: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "holdfast_acquire_seconds", Help: "How long acquiring a lock took.", Buckets: seconds,
		}, []string{"backend", "kind", "result"}),
		hold: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "holdfast_hold_seconds", Help: "How long locks were held.", Buckets: seconds,
		}, []string{"backend", "kind"}),
		lost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "holdfast_lost_total", Help: "Leases that ended before they were released.",
		}, []string{"backend", "kind", "reason"}),
	}
	r.MustRegister(o.wait, o.hold, o.lost)
	return o
}

// Observe implements [holdfast.Observer].
func (o *Observer) Observe(_ context.Context, e holdfast.Event) {
	switch e.Op {
	case holdfast.OpAcquire:
		o.wait.WithLabelValues(e.Backend, e.Kind, e.Outcome()).Observe(e.Took.Seconds())
	case holdfast.OpRelease:
		o.hold.WithLabelValues(e.Backend, e.Kind).Observe(e.Took.Seconds())
	case holdfast.OpLose:
		o.hold.WithLabelValues(e.Backend, e.Kind).Observe(e.Took.Seconds())
		o.lost.WithLabelValues(e.Backend, e.Kind, e.Outcome()).Inc()
	}
}
