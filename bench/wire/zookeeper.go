package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// A Call is a request to ZooKeeper.
type Call struct {
	Op   int32
	Path string // of the node, where the request begins with one
}

// Operations of ZooKeeper's protocol, from its zoo.h.
const (
	zkSetData    = 5
	zkPing       = 11
	zkClose      = -11
	zkAuth       = 100
	zkSetWatches = 101
)

// IsWrite reports whether the call sets a node's data.
func (c Call) IsWrite() bool { return c.Op == zkSetData }

// ZooKeeper counts requests, of which each is a length and as many bytes. Those for which renews returns true are
// upkeep, as are pings and what begins and ends sessions; nil means that there are none.
func ZooKeeper(renews func(Call) bool) Protocol {
	return func(r *bufio.Reader) func() (Count, error) {
		greeted := false
		return func() (Count, error) {
			frame, err := readFrame(r)
			switch {
			case err != nil:
				return Count{}, err
			case !greeted: // the first asks for a session
				greeted = true
				return oneUpkeep, nil
			}
			call, err := parseCall(frame)
			if call.keepsSession() || renews != nil && renews(call) {
				return oneUpkeep, err
			}
			return oneRequest, err
		}
	}
}

func (c Call) keepsSession() bool {
	return c.Op == zkPing || c.Op == zkClose || c.Op == zkAuth || c.Op == zkSetWatches
}

// maxFrame is more than any server accepts.
const maxFrame = 16 << 20

func readFrame(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxFrame {
		return nil, fmt.Errorf("wire: a frame of %d bytes is none of ZooKeeper's", n)
	}
	frame := make([]byte, n)
	_, err := io.ReadFull(r, frame)
	return frame, err
}

// parseCall reads the number of a request, its operation, and the path that most begin with.
func parseCall(frame []byte) (c Call, err error) {
	if len(frame) < 8 {
		return c, fmt.Errorf("wire: a request of %d bytes has no operation", len(frame))
	}
	c.Op = int32(binary.BigEndian.Uint32(frame[4:]))
	if body := frame[8:]; len(body) > 4 {
		if n := binary.BigEndian.Uint32(body); int64(n) <= int64(len(body)-4) && body[4] == '/' {
			c.Path = string(body[4 : 4+n])
		}
	}
	return c, nil
}
