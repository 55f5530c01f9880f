package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// MySQL counts commands, of which each is a packet with the number 0: a length of three bytes, the number, and as many
// bytes, of which the first is the command. What logs in has other numbers, and is upkeep, as are pings, and the ends
// of connections and statements, which are not answered.
func MySQL() Protocol {
	const quit, ping, closeStatement = 0x01, 0x0e, 0x19
	return func(r *bufio.Reader) func() (Count, error) {
		return func() (Count, error) {
			var head [4]byte
			if _, err := io.ReadFull(r, head[:]); err != nil {
				return Count{}, err
			}
			body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
			if _, err := io.ReadFull(r, body); err != nil {
				return Count{}, err
			}
			if number := head[3]; number != 0 || len(body) == 0 {
				return oneUpkeep, nil
			}
			switch body[0] {
			case quit, ping, closeStatement:
				return oneUpkeep, nil
			}
			return oneRequest, nil
		}
	}
}

// Postgres counts requests for an answer: queries of the simple protocol, and synchronizations, of which each ends what
// was sent for one statement of the extended protocol. What logs in and out is upkeep.
func Postgres() Protocol {
	const query, sync, terminate, password = 'Q', 'S', 'X', 'p'
	return func(r *bufio.Reader) func() (Count, error) {
		greeted := false
		return func() (Count, error) {
			if !greeted { // the first message has no kind
				greeted = true
				return oneUpkeep, skipMessage(r)
			}
			kind, err := r.ReadByte()
			if err == nil {
				err = skipMessage(r)
			}
			switch {
			case err != nil:
				return Count{}, err
			case kind == query, kind == sync:
				return oneRequest, nil
			case kind == terminate, kind == password:
				return oneUpkeep, nil
			}
			return Count{}, nil
		}
	}
}

// skipMessage reads a length, which counts itself, and as many bytes.
func skipMessage(r *bufio.Reader) error {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n < 4 || n > maxFrame {
		return fmt.Errorf("wire: a message of %d bytes is none of PostgreSQL's", n)
	}
	_, err := r.Discard(int(n) - 4)
	return err
}
