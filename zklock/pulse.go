package zklock

import (
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// A leader does not see what sessions send to other servers. These tell it, when it asks twice in each tick, of which
// sessions they have heard since they told it last; a change that they pass on for a session is no sign of life to it.
// So a server that has passed on a renewal has told of the session within half a tick before, if it had anything to
// tell. It has when it hears from the session twice in each half tick, and then the leader counts from no earlier than
// half a tick before the renewal: no longer than the slack. The client library pings once in a third of the session's
// time, which is far too seldom.

// pulsePart is the part of a session's slack after which the server hears from it again.
const pulsePart = 2

// A pulse pings a server for a session, and knows what the leader has heard of that by the answers.
type pulse struct {
	began leased.Instant // before the session was brought to this server, which the leader has allowed

	mu    sync.Mutex
	slack time.Duration
	keep  time.Duration // how long answers are remembered
	ping  func()
	timer *time.Timer
	ended bool
	asked []leased.Instant // when pings were sent that have no answer
	heard []heard          // those with one, oldest first
}

// A heard is a ping that the server has heard in this time.
type heard struct{ sent, answered leased.Instant }

// begin lets it ping for a session that lives so long.
func (p *pulse) begin(session time.Duration, ping func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.slack, p.keep, p.ping = slack(session), session, ping
	p.timer = time.AfterFunc(0, p.beat)
}

func (p *pulse) beat() {
	began := time.Now()
	p.ping()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.timer.Reset(max(p.slack/pulsePart, time.Millisecond) - time.Since(began))
	}
}

func (p *pulse) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.timer != nil {
		p.timer.Stop()
	}
}

// sent notes a ping that is about to be sent at this instant.
func (p *pulse) sent(at leased.Instant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, at)
}

// answered notes that a ping was answered, which they are in their order.
func (p *pulse) answered(at leased.Instant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.asked) == 0 {
		return
	}
	p.heard = append(p.heard, heard{p.asked[0], at})
	p.asked = p.asked[1:]
	for len(p.heard) > 1 && p.heard[1].answered.Add(p.keep) < at {
		p.heard = p.heard[1:]
	}
}

// counts returns from when the leader counts the session's time, less the slack, at least: the instant when a request
// was sent that the server has passed on by now, unless the server has not heard from the session all the time before.
// This process may have been stopped, or its line been slow. Then the leader knows of the newest ping that was answered
// the slack before that, and of the connection.
func (p *pulse) counts(sent, now leased.Instant) leased.Instant {
	p.mu.Lock()
	defer p.mu.Unlock()
	steady, next := true, now
	for _, h := range slices.Backward(p.heard) {
		steady = steady && next.Sub(h.sent) <= p.slack
		switch {
		case h.answered.Add(p.slack) > sent:
			next = h.answered
		case steady:
			return sent
		default:
			return min(sent, h.sent.Add(p.slack))
		}
	}
	return min(sent, p.began.Add(p.slack))
}

var pingRequest = bare(pingXid, opPing)
