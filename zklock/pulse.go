package zklock

import (
	"encoding/binary"
	"sync"
	"time"
)

// A leader does not see what sessions send to other servers. These tell it, when it asks twice in each tick, of which
// sessions they have heard since they told it last; a change that they pass on for a session is no sign of life to it.
// So a server that has passed on a renewal has told of the session within half a tick before, if it had anything to
// tell. It has when it hears from the session twice in each half tick, and then the leader counts from no earlier than
// half a tick before the renewal: no longer than the slack. The client library pings once in a third of the session's
// time, which is far too seldom.

// pulsePart is the part of a session's slack after which the server hears from it again.
const pulsePart = 2

// A pulse pings a server from time to time.
type pulse struct {
	every time.Duration
	ping  func()

	mu    sync.Mutex
	timer *time.Timer
	ended bool
}

// begin lets it ping for a session that lives so long.
func (p *pulse) begin(session time.Duration, ping func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.every, p.ping = max(slack(session)/pulsePart, time.Millisecond), ping
	p.timer = time.AfterFunc(0, p.beat)
}

func (p *pulse) beat() {
	began := time.Now()
	p.ping()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.timer.Reset(p.every - time.Since(began))
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

// pingRequest is a ping as it is sent: its length, its number, and what it is.
var pingRequest = func() []byte {
	xid := int32(pingXid)
	b := binary.BigEndian.AppendUint32(nil, 4+4)
	b = binary.BigEndian.AppendUint32(b, uint32(xid))
	return binary.BigEndian.AppendUint32(b, opPing)
}()
