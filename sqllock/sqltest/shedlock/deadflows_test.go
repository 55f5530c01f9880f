package shedlock

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/proxy"
)

// When packets of all connections that are open are swallowed, and new ones work, a holder loses one attempt to renew,
// however many these are.
func TestDeadFlows(t *testing.T) {
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			p := proxy.New(t, s.begin(t).Addr)
			d := s.open(t, p.Addr)
			held := claimOf(t.Name())
			held.Token = request(t, d, held).Token
			p.Delay(50 * time.Millisecond) // so that each of these has a connection
			var crowd sync.WaitGroup
			for range 8 {
				crowd.Go(func() {
					if _, err := d.Request(t.Context(), held); err != nil {
						t.Error(err)
					}
				})
			}
			crowd.Wait()
			p.Heal()
			p.SwallowOpen()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if st, err := d.Request(ctx, held); err == nil {
				t.Errorf("an answer from a dead connection: %+v", st)
			}
			ctx, cancel = context.WithTimeout(t.Context(), patience/4) // TCP would take many times as long to notice
			defer cancel()
			if st, err := d.Request(ctx, held); err != nil || !st.Granted {
				t.Errorf("the next attempt: %+v, %v", st, err)
			}
		})
	}
}
