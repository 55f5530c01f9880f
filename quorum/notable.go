package quorum

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// notable returns what people should know before they use the quorum: that an option gives up a promise, and for how
// long no lock can be had because too many nodes have just started.
func (d *Driver) notable(ctx context.Context) (told []driver.Finding) {
	if d.unsafeFresh {
		told = append(told, driver.Finding{
			Level: driver.Unsafe,
			Fact: "servers vote as soon as they are started, because unsafefresh is set: one that restarts " +
				"without its data can let in two",
			Advice: "use it for development and tests alone",
		})
	}
	var all sync.WaitGroup
	for _, n := range d.nodes {
		all.Go(func() { // one that is away is another matter
			_ = n.do(ctx, &driver.Op{Kind: driver.OpLife}, d.patience(d.traits.MaxTTL))
		})
	}
	all.Wait()
	if young, left := d.tooYoung(time.Now()); left > 0 {
		told = append(told, driver.Finding{
			Level: driver.Warning,
			Fact:  d.youngText(young) + fmt.Sprintf(": no lock can be had for another %v", seconds(left)),
			Advice: "wait, or give all clients a shorter maxttl; " +
				"where servers are always started empty, as in development, see unsafefresh",
		})
	}
	return told
}

// tooYoung is how many of the nodes were started too lately to vote, and how long it takes until those can that are
// needed for a majority; zero where there is one.
func (d *Driver) tooYoung(at time.Time) (young int, left time.Duration) {
	var voters []*node
	var waits []time.Duration
	for _, n := range d.nodes {
		switch r := n.lives(); {
		case r.life == "":
		case d.hasWaited(r, at):
			voters = append(voters, n)
		default:
			waits = append(waits, r.born.Add(d.traits.MaxTTL).Sub(at))
		}
	}
	missing := majority(len(d.nodes)) - engines(voters)
	if missing <= 0 || len(waits) == 0 {
		return len(waits), 0
	}
	slices.Sort(waits)
	return len(waits), waits[min(missing, len(waits))-1]
}

// youngText says how many of the nodes were started too lately.
func (d *Driver) youngText(young int) string {
	return fmt.Sprintf("%d of %d servers were started less than maxttl (%v) ago and may have forgotten locks",
		young, len(d.nodes), d.traits.MaxTTL)
}

// seconds rounds up, for people who wait.
func seconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
