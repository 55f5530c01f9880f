package zklock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"
)

// However the stream of answers is cut into pieces, the changes are taken out of it, the newest is learned, and
// the rest stays.
func TestAnswersInPieces(t *testing.T) {
	for range 200 {
		var said, want []byte
		var newest int64
		for range 5 {
			change, body := rand.Int64()-1, make([]byte, 4+rand.IntN(40)) // some say -1, or nothing new
			for i := range body {
				body[i] = byte(rand.IntN(256))
			}
			said = append(said, answer(change, body)...)
			want = append(want, answer(0, body)...)
			newest = max(newest, change)
		}
		var a answers
		var learned int64
		for rest := said; len(rest) > 0; {
			n := 1 + rand.IntN(min(len(rest), 30))
			learned = max(learned, a.blank(rest[:n]))
			rest = rest[n:]
		}
		if !bytes.Equal(said, want) || learned != newest {
			t.Fatalf("%x became %x with the newest change %d, want %d", want, said, learned, newest)
		}
	}
}

// answer is what a server says: a length, the number of a request, the newest change, and more.
func answer(change int64, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+8+len(body)))
	b = binary.BigEndian.AppendUint32(b, 7)
	b = binary.BigEndian.AppendUint64(b, uint64(change))
	return append(b, body...)
}

// Why a server did not take the user is known when it hung up instead of an answer, too.
func TestHungUpOnWhileIdentifying(t *testing.T) {
	ours, theirs := net.Pipe()
	l := &link{timeout: time.Minute, user: "app", password: "s3cret", refused: make(chan struct{})}
	h := newHandshake(l, ours)
	h.greeting = make([]byte, sessionEnd+16)
	binary.BigEndian.PutUint32(h.greeting[timeoutAt:], 4000)
	binary.BigEndian.PutUint64(h.greeting[timeoutEnd:], 1)
	go func() {
		var length [lengthEnd]byte
		io.ReadFull(theirs, length[:])
		io.ReadFull(theirs, make([]byte, binary.BigEndian.Uint32(length[:])))
		theirs.Close()
	}()
	if err := h.welcome(); !errors.Is(err, io.EOF) || !errors.Is(l.problem(), io.EOF) {
		t.Errorf("it is taken for %v, and remembered as %v", err, l.problem())
	}
}

// The request that opens a connection says that the client needs a server that takes writes, which the library leaves
// out and each server then has in its log. The greeting may leave the same out, as that of ClickHouse Keeper does.
func TestNeedsWrites(t *testing.T) {
	const requestLength, greetingLength = 44, 36 // as both were before there was more to say
	for what, more := range map[string][]byte{"of a server that knows both": {0}, "of one that does not": nil} {
		t.Run(what, func(t *testing.T) {
			ours, theirs := net.Pipe()
			h := newHandshake(&link{timeout: time.Minute, refused: make(chan struct{})}, ours)
			t.Cleanup(func() { h.Close() })
			greeting := binary.BigEndian.AppendUint32(nil, uint32(greetingLength+len(more)))
			greeting = append(append(greeting, make([]byte, greetingLength)...), more...)
			binary.BigEndian.PutUint32(greeting[timeoutAt:], 4000)
			binary.BigEndian.PutUint64(greeting[timeoutEnd:], 1)
			request := make([]byte, lengthEnd+requestLength)
			binary.BigEndian.PutUint32(request, requestLength)
			asked := make(chan []byte, 1)
			go func() { // ends with its greeting
				b := make([]byte, 2*len(request))
				n, _ := theirs.Read(b)
				asked <- b[:n]
				theirs.Write(greeting)
			}()
			if n, err := h.Write(request); n != len(request) || err != nil {
				t.Errorf("Write returns %d, %v", n, err)
			}
			want := append(bytes.Clone(request), 0)
			binary.BigEndian.PutUint32(want, requestLength+1)
			if got := <-asked; !bytes.Equal(got, want) {
				t.Errorf("the server is asked %x, want %x", got, want)
			}
			got := make([]byte, len(greeting))
			if _, err := io.ReadFull(h, got); err != nil || !bytes.Equal(got, greeting) || !h.greeted() {
				t.Errorf("the library reads %x, %v, want %x", got, err, greeting)
			}
		})
	}
}
