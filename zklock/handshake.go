package zklock

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// A handshake is a connection that takes care of seven things that the client library leaves out, or does badly:
//
//   - It reads along in the server's greeting, to learn the timeout that was granted.
//   - It compares the session in the greeting with the one that was asked for. ClickHouse Keeper and some proxies
//     answer a reconnection with a new session, without a word, and the library takes any.
//   - It says in the request for a session that the client needs a server that takes writes. The library leaves that
//     out, and servers log a warning of an old client for each connection.
//   - It tells the server who the client is before anything else is sent. The library would do so again and again,
//     beside other requests.
//   - It pings the server more often; see [pulse].
//   - It gives the connection up when an answer is overdue; see [overdue].
//   - It keeps the number of the newest change that the server told of. The library does so without a lock. When a
//     session comes back, the library may take the number from the new connection for what its watches have seen, and a
//     change in between is never told. So the library is told of no number, and where it asks for what came after the
//     newest change, this connection puts in the number that was known before it was made.
type handshake struct {
	net.Conn
	link     *link
	wanted   uint64 // the session that was asked for; zero for a new one
	greeting []byte // as much of it as has come
	before   int64  // the newest change that was known before this connection
	answers  answers
	overdue  overdue
	pulse    pulse
	writing  sync.Mutex // for there are two who write
}

func newHandshake(l *link, conn net.Conn) *handshake {
	h := &handshake{Conn: conn, link: l, before: l.newest.Load()}
	h.overdue = overdue{link: l, shut: func() { conn.Close() }}
	h.pulse.began = leased.Now()
	h.answers.seen = h.answered
	return h
}

// What a greeting holds: its length, a version, the timeout of the session and its number, and more that does not
// matter.
const (
	lengthEnd             = 4
	timeoutAt, timeoutEnd = 8, 12
	sessionEnd            = 20
)

// Where the request that opens a connection holds the session that is asked for.
const wantedAt, wantedEnd = 20, 28

// greeted reports whether the greeting has been read.
func (h *handshake) greeted() bool {
	return len(h.greeting) >= sessionEnd && len(h.greeting) >= lengthEnd+int(binary.BigEndian.Uint32(h.greeting))
}

// Read reads what the server says.
func (h *handshake) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	if h.greeted() {
		h.link.learn(h.answers.blank(b[:n]))
		if h.answers.at > 0 {
			h.overdue.progress()
		}
		return n, err
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		h.link.hung()
		h.link.blame(errSilent)
	case err != nil:
		h.link.turnedAway()
		h.link.blame(fmt.Errorf("%w: %w", errHungUp, err))
	}
	h.greeting = append(h.greeting, b[:n]...)
	if err == nil && h.greeted() {
		err = h.welcome()
	}
	if err != nil {
		return 0, err // with the bytes it would be ignored
	}
	return n, nil
}

// welcome answers the greeting.
func (h *handshake) welcome() error {
	switch given := binary.BigEndian.Uint64(h.greeting[timeoutEnd:]); {
	case given == 0:
		return nil // the session has ended, which the library reads by itself
	case h.wanted != 0 && given != h.wanted:
		h.Conn.Write(closeRequest) // so that nothing stays of the new session
		h.link.replaced()
		return errReplaced
	}
	granted := binary.BigEndian.Uint32(h.greeting[timeoutAt:])
	h.link.granted.Store(int64(granted))
	if h.link.user != "" {
		err := h.identify()
		h.link.blame(err)
		if errors.Is(err, driver.ErrRefused) {
			h.link.refuse(err)
		}
		if err != nil {
			return err
		}
	}
	h.pulse.begin(time.Duration(granted)*time.Millisecond, h.ping)
	h.link.feel(&h.pulse)
	return nil
}

func (h *handshake) ping() {
	if _, err := h.Write(pingRequest); err != nil {
		h.Conn.Close() // a part of it may have been sent
	}
}

// Numbers of ZooKeeper's protocol.
const (
	opPing       = 11
	opSetAuth    = 100
	opSetWatches = 101
	opClose      = -11
	pingXid      = -2
	authXid      = -4
	scheme       = "digest"
)

// closeRequest ends a session in which nothing was asked before.
var closeRequest = bare(1, opClose)

// bare is a request that is no more than its length, its number, and what it asks for.
func bare(xid, op int32) []byte {
	b := binary.BigEndian.AppendUint32(nil, 4+4)
	b = binary.BigEndian.AppendUint32(b, uint32(xid))
	return binary.BigEndian.AppendUint32(b, uint32(op))
}

// identify tells the server who the client is.
func (h *handshake) identify() error {
	if h.link.sasl {
		return h.authenticate()
	}
	xid := int32(authXid)
	login := h.link.user + ":" + h.link.password
	body := binary.BigEndian.AppendUint32(nil, uint32(xid))
	body = binary.BigEndian.AppendUint32(body, opSetAuth)
	body = binary.BigEndian.AppendUint32(body, 0)
	body = append(binary.BigEndian.AppendUint32(body, uint32(len(scheme))), scheme...)
	body = append(binary.BigEndian.AppendUint32(body, uint32(len(login))), login...)
	_, err := h.exchange(body)
	return err
}

// mostAnswer is more than a server has to say about who the client is.
const mostAnswer = 1 << 16

// exchange sends a request and returns what its answer holds behind the header, before the library sends any.
func (h *handshake) exchange(body []byte) ([]byte, error) {
	if _, err := h.Conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)); err != nil {
		return nil, err
	}
	h.Conn.SetReadDeadline(time.Now().Add(h.link.patience()))
	defer h.Conn.SetReadDeadline(time.Time{})
	const headerLength = 4 + 8 + 4 // the request's number, the newest change and the error
	var length [lengthEnd]byte
	if _, err := io.ReadFull(h.Conn, length[:]); err != nil {
		return nil, fmt.Errorf("sending the user and the password: %w", err)
	}
	answer := make([]byte, min(binary.BigEndian.Uint32(length[:]), mostAnswer))
	if _, err := io.ReadFull(h.Conn, answer); err != nil || len(answer) < headerLength {
		return nil, fmt.Errorf("sending the user and the password: %w", cmp.Or(err, io.ErrUnexpectedEOF))
	}
	if said := code(binary.BigEndian.Uint32(answer[headerLength-4:])); said != 0 {
		return nil, fmt.Errorf("the user is not accepted: %w", said.answered())
	}
	return answer[headerLength:], nil
}

// Where requests hold the newest change that the client knows: the one that opens the connection, and the one for
// watches.
const (
	knownAt   = 8
	opAt      = 8
	watchesAt = opAt + 4
)

// Write sends one request, as the library does.
func (h *handshake) Write(b []byte) (int, error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	switch {
	case !h.greeted():
		if len(b) >= wantedEnd {
			h.wanted = binary.BigEndian.Uint64(b[wantedAt:])
		}
		n, err := h.Conn.Write(needingWrites(withChange(b, knownAt, h.before)))
		return min(n, len(b)), err
	case len(b) >= opAt+4 && binary.BigEndian.Uint32(b[opAt:]) == opSetWatches:
		b = withChange(b, watchesAt, h.before)
	}
	if isPing(b) {
		h.pulse.sent(leased.Now())
	} else {
		h.overdue.sent(b)
	}
	return h.Conn.Write(b)
}

// Close closes the connection.
func (h *handshake) Close() error {
	h.overdue.end()
	h.pulse.end()
	return h.Conn.Close()
}

func isPing(request []byte) bool {
	xid := int32(pingXid)
	return len(request) >= numberAt+4 && binary.BigEndian.Uint32(request[numberAt:]) == uint32(xid)
}

// answered notes an answer. A server that serves only users that it knows says so in its answer to whatever comes
// first, a ping too, and hangs up.
func (h *handshake) answered(number int32, said code) {
	switch {
	case said == errNoSASL:
		h.link.refuse(said.answered())
	case number == pingXid:
		h.pulse.answered(leased.Now())
	default:
		h.overdue.answered(number)
	}
}

// withChange returns the request with another number of a change.
func withChange(request []byte, at int, change int64) []byte {
	out := bytes.Clone(request)
	if len(out) >= at+8 {
		binary.BigEndian.PutUint64(out[at:], uint64(change))
	}
	return out
}

// needingWrites adds to the request for a session the field that the library leaves out: false, because a server that
// only serves reads is not enough. Servers that know the field have it in their greeting, too.
func needingWrites(request []byte) []byte {
	const readsSuffice = 0
	out := append(request, readsSuffice)
	binary.BigEndian.PutUint32(out, uint32(len(out)-lengthEnd))
	return out
}

// SetReadDeadline sets a deadline; one for the greeting is less than the library's, which is far longer than the
// session lives.
func (h *handshake) SetReadDeadline(t time.Time) error {
	if latest := time.Now().Add(h.link.patience()); !t.IsZero() && !h.greeted() && t.After(latest) {
		t = latest
	}
	return h.Conn.SetReadDeadline(t)
}

// answers follows a stream of answers, each of which holds its length, the number of its request, and the newest
// change.
type answers struct {
	at     int   // how much of the answer has come
	length int   // of the answer, without these four bytes
	number int32 // of its request; as much of it as has come
	change int64 // as much of it as has come
	said   code  // zero without an error; as much of it as has come

	seen func(number int32, said code) // called with each answer; nil for nobody
}

const changeAt, changeEnd, saidEnd = 8, 16, 20

// blank takes the changes out of what has come, and returns the newest.
func (a *answers) blank(b []byte) (newest int64) {
	for len(b) > 0 {
		n := 1
		switch {
		case a.at < lengthEnd:
			a.length = a.length<<8 | int(b[0])
		case a.at < changeAt:
			a.number = a.number<<8 | int32(b[0])
		case a.at < changeEnd:
			a.change, b[0] = a.change<<8|int64(b[0]), 0
		case a.at < saidEnd:
			a.said = a.said<<8 | code(b[0])
		default:
			n = min(len(b), lengthEnd+a.length-a.at)
		}
		a.at, b = a.at+n, b[n:]
		if a.at == changeEnd {
			newest = max(newest, a.change)
		}
		if a.at == saidEnd && a.seen != nil {
			a.seen(a.number, a.said)
		}
		if a.at >= lengthEnd && a.at >= lengthEnd+a.length {
			*a = answers{seen: a.seen}
		}
	}
	return newest
}
