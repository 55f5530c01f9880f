package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// clocksApart is how far a server's clock may be from ours before it is worth a word: people compare times of logs.
const clocksApart = 5 * time.Second

// probe takes a lock that nobody else wants and gives it back, and compares the clocks.
func (s *store) probe(ctx context.Context) []driver.Finding {
	ctx, cancel := context.WithTimeout(ctx, holdfast.DefaultTTL)
	defer cancel()
	name := "holdfast-doctor-" + rand.Text()
	begin := time.Now()
	lease, err := s.Mutex(name).TryLock(ctx)
	if err != nil {
		return []driver.Finding{broken("take", err)}
	}
	taken := time.Now()
	findings := []driver.Finding{{Fact: fmt.Sprintf("a lock was taken in %v", round(taken.Sub(begin)))}}
	if queue, err := s.Queue(ctx, name); err == nil && len(queue) == 1 {
		findings = append(findings, compareClocks(queue[0].Since, begin, taken))
	}
	if err := lease.Release(ctx); err != nil {
		return append(findings, broken("give back", err))
	}
	return findings
}

func broken(what string, err error) driver.Finding {
	return driver.Finding{Level: driver.Unsafe, Fact: fmt.Sprintf("it was not possible to %s a lock: %v", what, err), Advice: "find out why before you rely on this backend"}
}

// compareClocks says what a server's clock showed at some moment between begin and end of ours.
func compareClocks(server, begin, end time.Time) driver.Finding {
	apart := server.Sub(begin.Add(end.Sub(begin) / 2)).Abs()
	if apart <= clocksApart {
		return driver.Finding{Fact: "the server's clock and ours agree to " + round(apart+end.Sub(begin)/2).String()}
	}
	return driver.Finding{Level: driver.Warning,
		Fact:   fmt.Sprintf("the server's clock shows %v, ours %v", server.Local().Format(time.DateTime), begin.Local().Format(time.DateTime)),
		Advice: "set one of them right, with NTP: locks do not care, but a server's clock that is corrected in a jump may end leases early, and people compare times of logs"}
}

func round(d time.Duration) time.Duration {
	if d > time.Millisecond {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Microsecond)
}
