package shedlock

import (
	"testing"
	"time"
)

// Lock, renewal and release work with TTLs of any length that the driver allows. Twenty minutes have more microseconds
// than half of what has room in 32 bits, and forty more than that.
func TestLengthsOfTTLs(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			d := s.open(t, s.begin(t).Addr)
			bounds := d.Traits()
			for _, ttl := range []time.Duration{bounds.MinTTL, 20 * time.Minute, 40 * time.Minute, bounds.MaxTTL} {
				c := claimOf("job")
				if c.TTL = ttl; ttl == 0 {
					c.TTL = 24 * time.Hour // there is no bound
				}
				st, err := d.Request(t.Context(), c)
				if err != nil || !st.Granted {
					t.Errorf("%v: a request: %+v, %v", c.TTL, st, err)
					continue
				}
				c.Token = st.Token
				if st, err = d.Request(t.Context(), c); err != nil || !st.Granted {
					t.Errorf("%v: a renewal: %+v, %v", c.TTL, st, err)
				}
				if err := d.Release(t.Context(), c); err != nil {
					t.Errorf("%v: a release: %v", c.TTL, err)
				}
			}
		})
	}
}
