package zklock

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// A server that is cut off from its leader goes on answering pings, and one that is stopped answers nothing; the
// client library notices the first never and the second after two thirds of the session's time. So a connection on
// which a request is overdue is closed, and the session goes on with another server.

// overdue watches the requests of one connection for their answers, which come in the order of the requests.
type overdue struct {
	link *link
	shut func() // closes the connection

	mu    sync.Mutex
	asked []question
	moved leased.Instant // when a part of a long answer has come
	timer *time.Timer    // of the first look after; nil while nothing is looked for
	ended bool
}

// A question is a request without an answer.
type question struct {
	number int32
	at     leased.Instant
}

// numberAt is where requests and answers have the number of the request, after their length.
const numberAt = 4

// sent notes a request. Pings and the like have numbers below zero, and are not waited for.
func (o *overdue) sent(request []byte) {
	if len(request) < numberAt+4 {
		return
	}
	number := int32(binary.BigEndian.Uint32(request[numberAt:]))
	if number < 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, question{number, leased.Now()})
	if o.timer == nil && !o.ended {
		o.timer = time.AfterFunc(o.link.tolerance(), o.look)
	}
}

// answered notes an answer.
func (o *overdue) answered(number int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, q := range o.asked {
		if q.number == number {
			o.asked = o.asked[i+1:]
			o.link.answered()
			return
		}
	}
}

// progress notes that a part of an answer has come, which keeps those behind it waiting.
func (o *overdue) progress() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.moved = leased.Now()
}

// look closes the connection when the oldest request is overdue, and otherwise looks again when it would be.
func (o *overdue) look() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended || len(o.asked) == 0 {
		o.timer = nil
		return
	}
	left := max(o.asked[0].at, o.moved).Add(o.link.tolerance()).Sub(leased.Now())
	if left > 0 {
		o.timer.Reset(left)
		return
	}
	o.ended = true
	o.link.hung()
	o.shut()
}

// end stops watching.
func (o *overdue) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.timer != nil {
		o.timer.Stop()
	}
}
