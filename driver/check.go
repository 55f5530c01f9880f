package driver

import (
	"context"
	"fmt"
	"time"
)

// A Checker examines whether the server is configured so that it can keep the driver's promises.
type Checker interface {
	// Check returns what it found. If brief, that is only what people should be told once they have opened the driver,
	// because it explains what they are about to see: that no lock can be had for a while, or that an option gives up a
	// promise. Most drivers have nothing of the kind to say, and then ask the server nothing. A brief Check does not
	// wait long for engines that do not answer.
	Check(ctx context.Context, brief bool) ([]Finding, error)
}

// A Finding is one fact about the server, with advice.
type Finding struct {
	Level  Level  // how much it matters
	Fact   string // what is so: "maxmemory-policy is allkeys-lru"
	Advice string // what to do, and why; empty when all is well
}

// A Level says how much a finding matters.
type Level int

const (
	Fine    Level = iota // as it should be
	Warning              // a promise is weaker than it could be
	Unsafe               // locks may be lost or held twice
)

// Check examines the server as [Checker] says. Where d is no Checker, there is nothing to say in brief, and otherwise
// an error that wraps [errors.ErrUnsupported].
func Check(ctx context.Context, d Driver, brief bool) ([]Finding, error) {
	c, ok := As[Checker](d)
	switch {
	case ok:
		return c.Check(ctx, brief)
	case brief:
		return nil, nil
	default:
		return nil, Unsupported(d.Traits(), "checking the server")
	}
}

// clocksApart is how far a server's clock may be from ours before it is worth a word.
const clocksApart = 5 * time.Second

// CompareClocks judges a server's clock, which showed server at some moment between begin and end of this machine's
// clock.
func CompareClocks(server, begin, end time.Time) Finding {
	took := end.Sub(begin)
	apart := server.Sub(begin.Add(took / 2)).Abs()
	if apart <= clocksApart {
		apart = max(apart+took/2, time.Millisecond).Round(time.Millisecond)
		return Finding{Fact: fmt.Sprintf("the server's clock and ours agree to %v", apart)}
	}
	return Finding{
		Level: Warning,
		Fact: fmt.Sprintf("the server's clock shows %v, ours %v",
			server.Local().Format(time.DateTime), begin.Local().Format(time.DateTime)),
		Advice: "set one of them right, with NTP: locks do not care, but a server's clock that is corrected " +
			"in a jump may end leases early, and people compare times of logs",
	}
}
