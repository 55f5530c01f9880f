package testbed

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// Commands of MySQL's protocol that ask for nothing.
const (
	mysqlQuit      = 0x01
	mysqlPing      = 0x0e
	mysqlCloseStmt = 0x19
)

// mysqlCommands counts what MySQL clients ask for: a packet with the number 0 begins a command.
func mysqlCommands(r *bufio.Reader) func() (wire.Count, error) {
	return func() (wire.Count, error) {
		var head [4]byte // the length in three bytes, and the number
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return wire.Count{}, err
		}
		body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
		if _, err := io.ReadFull(r, body); err != nil {
			return wire.Count{}, err
		}
		if head[3] != 0 || len(body) == 0 {
			return wire.Count{}, nil
		}
		switch body[0] {
		case mysqlQuit, mysqlPing, mysqlCloseStmt:
			return wire.Count{Upkeep: 1}, nil
		}
		return wire.Count{Requests: 1}, nil
	}
}

// Messages of PostgreSQL's protocol that the server answers.
const (
	postgresQuery = 'Q'
	postgresSync  = 'S'
)

// postgresQueries counts round trips of PostgreSQL clients. The first message has no type. Encrypted connections cannot
// be counted.
func postgresQueries(r *bufio.Reader) func() (wire.Count, error) {
	greeted := false
	return func() (c wire.Count, err error) {
		kind := byte(0)
		if greeted {
			if kind, err = r.ReadByte(); err != nil {
				return c, err
			}
		}
		greeted = true
		if kind == postgresQuery || kind == postgresSync {
			c.Requests = 1
		}
		return c, skipMessage(r)
	}
}

// skipMessage reads a length, which counts itself, and what it is the length of.
func skipMessage(r *bufio.Reader) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint32(head[:]))
	if n < len(head) || n > 1<<26 {
		return fmt.Errorf("testbed: a message of %d bytes is none of PostgreSQL's", n)
	}
	_, err := r.Discard(n - len(head))
	return err
}
