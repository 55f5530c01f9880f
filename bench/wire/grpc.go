package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Methods of etcd whose streams carry many messages each.
const (
	etcdWatch     = "/etcdserverpb.Watch/Watch"
	etcdKeepAlive = "/etcdserverpb.Lease/LeaseKeepAlive"
)

// Etcd counts gRPC calls. On the streams of watches and of keep-alives it counts messages instead, as watches and as
// upkeep.
func Etcd() Protocol {
	return func(r *bufio.Reader) func() (Count, error) {
		c := newCalls(r)
		greeted := false
		return func() (Count, error) {
			if !greeted {
				greeted = true
				return Count{}, readPreface(r)
			}
			return c.next()
		}
	}
}

// readPreface reads what an HTTP/2 connection begins with.
func readPreface(r io.Reader) error {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(r, preface); err != nil {
		return err
	}
	if string(preface) != http2.ClientPreface {
		return fmt.Errorf("wire: %q does not begin an HTTP/2 connection", preface)
	}
	return nil
}

// calls are what one client calls.
type calls struct {
	frames  *http2.Framer
	streams map[uint32]*messages // those that are counted by messages
}

// maxHeaderTable is more than clients use to compress headers.
const maxHeaderTable = 64 << 10

func newCalls(r io.Reader) *calls {
	frames := http2.NewFramer(nil, r)
	frames.ReadMetaHeaders = hpack.NewDecoder(maxHeaderTable, nil)
	return &calls{frames: frames, streams: make(map[uint32]*messages)}
}

// next reads a frame, or all frames of one call's headers.
func (c *calls) next() (Count, error) {
	frame, err := c.frames.ReadFrame()
	if err != nil {
		return Count{}, err
	}
	switch f := frame.(type) {
	case *http2.MetaHeadersFrame:
		return c.begin(f), nil
	case *http2.DataFrame:
		if m := c.streams[f.StreamID]; m != nil {
			return m.read(f.Data()), nil
		}
	case *http2.RSTStreamFrame:
		delete(c.streams, f.StreamID)
	}
	return Count{}, nil
}

// begin counts a call, unless its messages are to be counted.
func (c *calls) begin(f *http2.MetaHeadersFrame) Count {
	switch f.PseudoValue("path") {
	case etcdWatch:
		c.streams[f.StreamID] = &messages{worth: oneWatch}
		return Count{}
	case etcdKeepAlive:
		c.streams[f.StreamID] = &messages{worth: oneUpkeep}
		return Count{}
	default:
		return oneRequest
	}
}

// messages are what a client sends on one stream. A message is a byte, its length, and as many bytes.
type messages struct {
	worth   Count
	partial []byte
}

const messageHead = 5

func (m *messages) read(data []byte) (total Count) {
	m.partial = append(m.partial, data...)
	for len(m.partial) >= messageHead {
		end := messageHead + int(binary.BigEndian.Uint32(m.partial[1:]))
		if len(m.partial) < end {
			break
		}
		m.partial = m.partial[end:]
		total = total.add(m.worth)
	}
	return total
}
