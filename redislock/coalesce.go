package redislock

import (
	"cmp"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A coalescingConn sends in one system call what many goroutines write at about the same time: on its own, each
// request would cost a call, which takes longer than the request. It delays nothing that could go. What is written is
// sent when whoever wrote it reads, or when all goroutines that can run have run, or when there is enough of it for
// the server to begin.
type coalescingConn struct {
	net.Conn
	wake chan struct{} // to send, because nobody is about to read

	mu      sync.Mutex
	pending []byte
	reading bool
	closed  bool
	err     error // of a send that nobody waited for, or why the connection was given up
	refusal refusal

	sending sync.Mutex // comes before mu
	spare   []byte     // guarded by sending: room for what is written next

	alone    atomic.Bool // see isAlone
	pulse    pulse
	watchdog *time.Timer // guarded by mu: looks whether the connection is silent
	closing  func()      // if not nil, told of Close
	greeted  func()      // if not nil, told when something comes for the first time
}

// enough is how many bytes are not kept for more to come: about ten requests.
const enough = 2 << 10

func newCoalescingConn(c net.Conn) *coalescingConn {
	b := &coalescingConn{Conn: c, wake: make(chan struct{}, 1)}
	go b.send()
	return b
}

// Write takes p to be sent. An error is that of a send, perhaps of something else.
func (b *coalescingConn) Write(p []byte) (int, error) {
	full, err := b.add(p)
	if err == nil && full {
		err = b.flush()
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// add reports whether there is enough to send.
func (b *coalescingConn) add(p []byte) (full bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return false, b.err
	}
	if b.closed {
		return false, net.ErrClosed
	}
	b.pending = append(b.pending, p...)
	full = len(b.pending) >= enough
	if b.reading && !full {
		select {
		case b.wake <- struct{}{}:
		default: // it has been told
		}
	}
	return full, nil
}

// Read sends what was written, and reads.
func (b *coalescingConn) Read(p []byte) (int, error) {
	// Whoever reads waits for an answer, so nothing may stay behind. reading is set in the same step: what is written
	// from then on is sent by the goroutine.
	if b.begin() {
		if err := b.flush(); err != nil {
			b.hearOut()
			return 0, b.why(err)
		}
	}
	n, err := b.Conn.Read(p)
	b.heard(p[:n])
	if err != nil {
		err = b.why(err)
	}
	return n, err
}

// heard notes what has come.
func (b *coalescingConn) heard(p []byte) {
	if len(p) > 0 {
		if b.greeted != nil && b.pulse.neverHeard() {
			b.greeted()
		}
		b.pulse.hear()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading = false
	b.refusal.hear(p)
}

// why is the error to tell for a connection that has ended with err: what the server said, or what closed it.
func (b *coalescingConn) why(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if reply := b.refusal.reply(); reply != "" {
		return reply
	}
	return cmp.Or(b.err, err)
}

// hearOut reads what a server has sent before it closed the connection, so that nothing could be sent.
func (b *coalescingConn) hearOut() {
	b.Conn.SetReadDeadline(time.Now().Add(hearOutFor))
	p := make([]byte, longestRefusal)
	n, _ := b.Conn.Read(p)
	b.heard(p[:n])
}

// begin notes that somebody reads, and reports whether there is something to send first.
func (b *coalescingConn) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading = true
	return len(b.pending) > 0
}

// send sends what is written while somebody reads, until Close.
func (b *coalescingConn) send() {
	for range b.wake {
		runtime.Gosched() // others may have something to send too
		b.flush()         // the next to write or read learns of an error
	}
}

func (b *coalescingConn) flush() error {
	// One takes and sends at a time, so that what was written first is sent first. mu is not held over the network: who
	// writes meanwhile must not wait for it.
	b.sending.Lock()
	defer b.sending.Unlock()
	out, err := b.take()
	if err == nil && len(out) > 0 {
		b.pulse.ask() // before the write, during which the answer may come: asked later, it would be missing for good
		_, err = b.Conn.Write(out)
	}
	b.spare = out[:0]
	if err != nil {
		b.mu.Lock()
		b.err = err
		b.mu.Unlock()
	}
	return err
}

// take returns what is to be sent. sending is held.
func (b *coalescingConn) take() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.pending
	b.pending = b.spare
	return out, b.err
}

// SetDeadline is called by rueidis before a call has the connection for itself, and with the zero time before others
// may use it as well.
func (b *coalescingConn) SetDeadline(at time.Time) error {
	b.alone.Store(!at.IsZero())
	return b.Conn.SetDeadline(at)
}

// isAlone reports whether a call waits that has the connection for itself. A greeting is one, too.
func (b *coalescingConn) isAlone() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.alone.Load() && (b.reading || b.pulse.silence() > 0)
}

// Close ends the connection. What was not sent is lost, as what was sent may be.
func (b *coalescingConn) Close() error {
	b.mu.Lock()
	if !b.closed {
		b.closed = true // under mu, which add holds while it sends on wake: sending on a closed channel panics
		close(b.wake)
		if b.watchdog != nil {
			b.watchdog.Stop()
		}
	}
	b.mu.Unlock()
	if b.closing != nil {
		b.closing()
	}
	return b.Conn.Close()
}

// giveUp closes the connection, and tells whoever reads or writes why.
func (b *coalescingConn) giveUp(why error) {
	b.mu.Lock()
	b.err = cmp.Or(b.err, why)
	b.mu.Unlock()
	b.Close()
}

// closeAfterSilence closes the connection when an answer has been missing for too long.
func (b *coalescingConn) closeAfterSilence(patience time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.watchdog = time.AfterFunc(patience/4, func() {
		if silence := b.pulse.silence(); silence >= patience {
			b.giveUp(errSilent(silence))
			return
		}
		b.closeAfterSilence(patience)
	})
}
