package shedlock

import (
	"testing"
	"time"
)

// Tokens of ours grow, even if a program whose clock is fast had the lock before the first, and one whose clock is
// right before the second.
func TestTokensGrowBesideClocksThatDiffer(t *testing.T) {
	t.Parallel()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			addr := s.begin(t).Addr
			d := s.open(t, addr)
			anHourAhead := func() time.Time { return time.Now().Add(time.Hour) }
			fast := peer{s.Pool(t, addr), ownTime[s.Name], "fast-host", anHourAhead}
			right := peer{s.Pool(t, addr), dbTime[s.Name], "right-host", time.Now}
			turn := func(p peer) {
				t.Helper()
				if !p.lock(t, s, "job", atMost) {
					t.Fatalf("%s does not get the lock", p.host)
				}
				queue, err := d.Queue(t.Context(), "job")
				if err != nil || len(queue) != 1 || queue[0].Owner != p.host {
					t.Fatalf("the queue is %+v, %v", queue, err)
				}
				if err := d.Break(t.Context(), "job", queue[0].ID); err != nil {
					t.Fatal(err)
				}
			}
			var last uint64
			for _, p := range []peer{fast, right, right} {
				turn(p)
				c := claimOf("job")
				c.Token = request(t, d, c).Token
				if c.Token <= last {
					t.Errorf("after %s the token is %d, which is not above %d", p.host, c.Token, last)
				}
				last = c.Token
				if err := d.Release(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
