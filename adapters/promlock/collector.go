package promlock

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-go/holdfast"
)

// A Collector reads figures of a client whenever Prometheus asks. It implements [prometheus.Collector].
type Collector struct{ client *holdfast.Client }

var (
	held     = gauge("held", "Locks that are held.")
	waiting  = gauge("waiting", "Calls that wait for a lock.")
	validity = gauge("validity_seconds",
		"How long the first lease lasts unless it is renewed before; absent while no lock is held.")
	failed = gauge("renewal_failures_total", "Renewals that were not answered, or refused for the time being.")
)

func gauge(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("holdfast_"+name, help, []string{"backend"}, nil)
}

// NewCollector returns a collector of these:
//
//	holdfast_held{backend}                     locks that are held
//	holdfast_waiting{backend}                  calls that wait for a lock
//	holdfast_validity_seconds{backend}         how long the first lease lasts unless it is renewed before
//	holdfast_renewal_failures_total{backend}   renewals that failed; a lease outlasts a few
//
// An alert on a validity that stays below a third of the TTL comes before locks are lost. Several clients of one
// registry need a label each: see [prometheus.WrapRegistererWith].
func NewCollector(client *holdfast.Client) *Collector { return &Collector{client} }

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{held, waiting, validity, failed} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	s := c.client.Stats()
	metric := func(d *prometheus.Desc, t prometheus.ValueType, v float64) {
		to <- prometheus.MustNewConstMetric(d, t, v, s.Backend)
	}
	metric(held, prometheus.GaugeValue, float64(s.Held))
	metric(waiting, prometheus.GaugeValue, float64(s.Waiting))
	metric(failed, prometheus.CounterValue, float64(s.FailedRenewals))
	if s.Held > 0 {
		metric(validity, prometheus.GaugeValue, s.Validity.Seconds())
	}
}
