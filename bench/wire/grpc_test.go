package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A caller writes what a gRPC client sends.
type caller struct {
	sent    bytes.Buffer
	frames  *http2.Framer
	headers bytes.Buffer
	encoder *hpack.Encoder
}

func newCaller() *caller {
	c := new(caller)
	c.sent.WriteString(http2.ClientPreface)
	c.frames = http2.NewFramer(&c.sent, nil)
	c.encoder = hpack.NewEncoder(&c.headers)
	return c
}

// call begins a call of a method, with its headers cut into two frames.
func (c *caller) call(stream uint32, method string) {
	c.headers.Reset()
	for _, field := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", method},
		{":authority", "etcd"}} {
		c.encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	block := c.headers.Bytes()
	c.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block[:1]})
	c.frames.WriteContinuation(stream, true, block[1:])
}

func message(text string) []byte {
	head := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text)))
	return append(head, text...)
}

func TestEtcdCountsCallsAndMessages(t *testing.T) {
	c := newCaller()
	c.frames.WriteSettings()
	c.call(1, "/etcdserverpb.KV/Txn")
	c.frames.WriteData(1, true, message("put")) // part of the call
	c.call(3, etcdWatch)
	both := slices.Concat(message("create"), message("cancel"))
	c.frames.WriteData(3, false, both[:7]) // a message may come in parts, and two at once
	c.frames.WriteData(3, false, both[7:])
	c.call(5, etcdKeepAlive)
	c.frames.WriteData(5, false, message(""))
	c.frames.WritePing(false, [8]byte{})
	c.call(7, "/etcdserverpb.KV/Txn")

	got, err := countAll(Etcd(), &c.sent)
	if want := (Count{Requests: 2, Watches: 2, Upkeep: 1}); got != want || !errors.Is(err, io.EOF) {
		t.Errorf("counted %+v, %v, want %+v", got, err, want)
	}
}

func TestEtcdRefusesWhatItCannotCount(t *testing.T) {
	for _, sent := range []string{"GET / HTTP/1.1\r\nHost: etcd\r\n\r\n", "PRI"} {
		if got, err := countAll(Etcd(), bytes.NewBufferString(sent)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("counted %+v in %q without an error", got, sent)
		}
	}
}

// countAll counts until there is no more to read, or it cannot be read.
func countAll(p Protocol, sent io.Reader) (total Count, err error) {
	next := p(bufio.NewReader(sent))
	for {
		piece, err := next()
		if err != nil {
			return total, err
		}
		total = total.add(piece)
	}
}
