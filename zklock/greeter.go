package zklock

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A greeter is a connection that does three things which the client library does not, or not well:
//
//   - It reads along in the server's greeting, to learn the timeout that was granted.
//   - It tells the server who the client is, before anything else is sent. The library would do so again and again beside
//     other requests.
//   - When the session comes back, it holds answers up until the library has asked for its watches anew, which it
//     does as of the newest answer: nothing that happened meanwhile may seem known. When the session is new the library
//     looks through its watches too, without a lock; it has a moment for that.
type greeter struct {
	net.Conn
	link     *link
	greeting []byte // as much of it as has come
	resumes  bool   // the session was up before

	ready     chan struct{} // closed when answers may be read
	readyOnce sync.Once
}

func newGreeter(l *link, conn net.Conn) *greeter {
	return &greeter{Conn: conn, link: l, resumes: l.granted.Load() > 0, ready: make(chan struct{})}
}

// What a greeting holds: its length, a version, the timeout of the session and its number, and more that does not matter.
const (
	lengthEnd             = 4
	timeoutAt, timeoutEnd = 8, 12
	sessionEnd            = 20
)

// greeted reports whether the greeting has been read.
func (g *greeter) greeted() bool {
	return len(g.greeting) >= sessionEnd && len(g.greeting) >= lengthEnd+int(binary.BigEndian.Uint32(g.greeting))
}

// Read reads what the server says.
func (g *greeter) Read(b []byte) (int, error) {
	if g.greeted() {
		g.awaitReady()
		return g.Conn.Read(b)
	}
	n, err := g.Conn.Read(b)
	g.greeting = append(g.greeting, b[:n]...)
	if err == nil && g.greeted() {
		err = g.welcome()
	}
	return n, err
}

// welcome answers the greeting.
func (g *greeter) welcome() error {
	if binary.BigEndian.Uint64(g.greeting[timeoutEnd:]) == 0 {
		return nil // the session has ended, which the library reads by itself
	}
	g.link.granted.Store(int64(binary.BigEndian.Uint32(g.greeting[timeoutAt:])))
	if !g.resumes {
		time.AfterFunc(firstLook, g.letRead)
	}
	if g.link.login == nil {
		return nil
	}
	err := g.identify()
	g.link.blame(err)
	return err
}

// Numbers of ZooKeeper's protocol.
const (
	opSetAuth    = 100
	opSetWatches = 101
	authXid      = -4
	scheme       = "digest"
)

// identify tells the server who the client is, and reads its answer.
func (g *greeter) identify() error {
	xid := int32(authXid)
	body := binary.BigEndian.AppendUint32(nil, uint32(xid))
	body = binary.BigEndian.AppendUint32(body, opSetAuth)
	body = binary.BigEndian.AppendUint32(body, 0)
	body = append(binary.BigEndian.AppendUint32(body, uint32(len(scheme))), scheme...)
	body = append(binary.BigEndian.AppendUint32(body, uint32(len(g.link.login))), g.link.login...)
	if _, err := g.Conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)); err != nil {
		return err
	}
	g.Conn.SetReadDeadline(time.Now().Add(g.link.patience()))
	defer g.Conn.SetReadDeadline(time.Time{})
	var answer [lengthEnd + 4 + 8 + 4]byte // its length, the request's number, the newest change and the error
	if _, err := io.ReadFull(g.Conn, answer[:]); err != nil {
		return fmt.Errorf("telling the user: %w", err)
	}
	if code := int32(binary.BigEndian.Uint32(answer[len(answer)-4:])); code != 0 {
		return fmt.Errorf("%w: the user is not accepted, with error %d; check the user and the password", driver.ErrRefused, code)
	}
	return nil
}

// firstLook is how long the library may take to see that it has no watches yet.
const firstLook = 2 * time.Millisecond

// awaitReady holds up until the library has asked for its watches, or has seen that it has none.
func (g *greeter) awaitReady() {
	select {
	case <-g.ready:
		return
	default:
	}
	timer := time.NewTimer(g.link.patience())
	defer timer.Stop()
	select {
	case <-g.ready:
	case <-timer.C: // it has none
	}
}

// Write sends one request, as the library does.
func (g *greeter) Write(b []byte) (int, error) {
	const opAt = 8
	n, err := g.Conn.Write(b)
	if g.greeted() && len(b) >= opAt+4 && binary.BigEndian.Uint32(b[opAt:]) == opSetWatches {
		g.letRead()
	}
	return n, err
}

func (g *greeter) Close() error {
	g.letRead()
	return g.Conn.Close()
}

func (g *greeter) letRead() { g.readyOnce.Do(func() { close(g.ready) }) }

// SetReadDeadline sets a deadline; one for the greeting is less than the library's, which is far longer than the session
// lives.
func (g *greeter) SetReadDeadline(t time.Time) error {
	if latest := time.Now().Add(g.link.patience()); !t.IsZero() && !g.greeted() && t.After(latest) {
		t = latest
	}
	return g.Conn.SetReadDeadline(t)
}
