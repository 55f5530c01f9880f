package zklock

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A line of pings, at so many milliseconds: when each was sent and answered.
type pings [][2]int

func at(ms int) leased.Instant { return leased.Instant(0).Add(time.Duration(ms) * time.Millisecond) }

// The leader hears of a session twice in each tick, and half a tick is the slack of a second here. So for all that is
// known, it may not have heard of what a server has heard in the second before a request.
func TestPulseCounts(t *testing.T) {
	for _, c := range []struct {
		name      string
		pings     pings
		sent, now int
		want      int
	}{
		{"a new connection", nil, 900, 950, 900},
		{"a connection on which nothing was answered", nil, 5000, 5010, 1000},
		{"one ping", pings{{10, 20}}, 1500, 1510, 1010},
		{"all the time", pings{{10, 20}, {500, 510}, {1000, 1010}, {1500, 1510}}, 1900, 1910, 1900},
		{"the newest ping is not answered soon", pings{{10, 20}, {500, 510}, {1000, 1400}}, 1900, 1910, 1900},
		{"the newest ping is answered late", pings{{10, 20}, {500, 510}, {1000, 1600}}, 1900, 1910, 1500},
		{"the answer comes late", pings{{10, 20}, {500, 510}, {1000, 1010}}, 1900, 2010, 1500},
		{"stopped", pings{{10, 20}, {500, 510}, {5000, 5010}}, 5000, 5010, 1500},
		{"stopped a while ago", pings{{10, 20}, {500, 510}, {5000, 5010}, {5500, 5510}}, 5900, 5910, 1500},
		{"stopped long ago", pings{{10, 20}, {500, 510}, {5000, 5010}, {5500, 5510}, {6000, 6010}}, 6010, 6020, 6010},
		{"the line is slow", pings{{10, 620}, {500, 1120}, {1000, 1620}, {1500, 2120}, {2000, 2620}}, 3000, 3600, 2000},
		{"the first ping is answered just now", pings{{900, 950}}, 1800, 1810, 1000},
		{"just in time", pings{{10, 20}, {500, 1010}, {1000, 1010}}, 1900, 2000, 1900},
		{"a request before the connection", nil, -500, 100, -500},
	} {
		p := &pulse{slack: time.Second, keep: time.Minute}
		for _, ping := range c.pings {
			p.sent(at(ping[0]))
			p.answered(at(ping[1]))
		}
		if got := p.counts(at(c.sent), at(c.now)); got != at(c.want) {
			t.Errorf("%s: it counts from %v on, want %v", c.name, time.Duration(got), time.Duration(at(c.want)))
		}
	}
}

// What has been promised is not taken back, and a ping is remembered for as long as a session lives.
func TestPulseRemembers(t *testing.T) {
	p := &pulse{slack: time.Second, keep: 16 * time.Second}
	l := &link{pulse: p}
	for ms := 0; ms < 60_000; ms += 500 {
		p.sent(at(ms))
		p.answered(at(ms + 1))
		if now := at(ms + 1); ms > 16_000 && p.heard[0].answered.Add(p.keep) >= now {
			t.Fatalf("at %v the oldest that is remembered is too young", time.Duration(now))
		}
	}
	if len(p.heard) > 34 || len(p.asked) > 0 {
		t.Errorf("%d pings are remembered", len(p.heard))
	}
	if got := p.counts(at(45_000), at(60_000)); got != at(45_000) {
		t.Errorf("a request that was answered late counts from %v on", time.Duration(got))
	}
	l.counts = at(70_000)
	if l.counted(at(69_000)) != at(69_000) || l.counted(at(71_000)) != at(70_000) {
		t.Error("the leader has counted from later on, and that is taken back")
	}
}

// A session is pinged twice in its slack. A connection that is closed is pinged no more, also if that happens during a
// ping, or before the server has greeted.
func TestPulseBeats(t *testing.T) {
	defer bubble.Alone()()
	synctest.Test(t, func(t *testing.T) {
		const session, before = 4 * time.Second, 3
		p, sent, began := new(pulse), 0, time.Now()
		p.begin(session, func() {
			if sent++; sent < before {
				return
			}
			if took := time.Since(began); took != slack(session) {
				t.Errorf("two more pings took %v", took)
			}
			p.end()
		})
		time.Sleep(time.Minute) // of the bubble
		p.begin(session, func() { t.Error("it was begun anew") })
		q := new(pulse)
		q.begin(session, func() { sent++ })
		synctest.Wait()
		q.end()
		time.Sleep(time.Minute)
		if want := before + 1; sent != want {
			t.Errorf("%d pings, want %d", sent, want)
		}
	})
}
