package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// probe takes a lock that nobody else wants and gives it back, and compares the clocks.
func (s *store) probe(ctx context.Context) []driver.Finding {
	ctx, cancel := context.WithTimeout(ctx, holdfast.DefaultTTL)
	defer cancel()
	name := "holdfast-doctor-" + rand.Text()
	begin := time.Now()
	lease, err := s.Mutex(name, holdfast.WithTTL(probeTTL(s.driver.Traits()))).TryLock(ctx)
	if err != nil {
		return []driver.Finding{broken("take", err)}
	}
	taken := time.Now()
	findings := []driver.Finding{{Fact: fmt.Sprintf("a lock was taken in %v", round(taken.Sub(begin)))}}
	if queue, err := s.Queue(ctx, name); err == nil && len(queue) == 1 && s.driver.Traits().Backend != clockless {
		findings = append(findings, driver.CompareClocks(queue[0].Since, begin, taken))
	}
	if err := lease.Release(ctx); err != nil {
		return append(findings, broken("give back", err))
	}
	return findings
}

// clockless is the backend that tells no time of its own: what it says of a claim is by the clock of who made that.
const clockless = "etcd"

// probeTTL is the usual one, or the nearest that the backend takes.
func probeTTL(tr driver.Traits) time.Duration {
	ttl := max(holdfast.DefaultTTL, tr.MinTTL)
	if tr.MaxTTL > 0 {
		ttl = min(ttl, tr.MaxTTL)
	}
	return ttl
}

func broken(what string, err error) driver.Finding {
	return driver.Finding{Level: driver.Unsafe, Fact: fmt.Sprintf("it was not possible to %s a lock: %v", what, err),
		Advice: cmp.Or(answerAdvice(err), "find out why before you rely on this backend")}
}

func round(d time.Duration) time.Duration {
	if d > time.Millisecond {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Microsecond)
}
