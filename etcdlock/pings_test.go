package etcdlock_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/internal/proxy"
)

// pings counts the pings that a client sends of its own accord on one connection: RFC 9113, sections 3.4, 4.1 and 6.7.
func pings() proxy.Counter {
	const (
		preface     = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
		frameHeader = 9
		ping, ack   = 6, 1
	)
	var read []byte
	greeted := false
	return func(chunk []byte) (n int) {
		read = append(read, chunk...)
		if !greeted && len(read) >= len(preface) {
			read, greeted = read[len(preface):], true
		}
		for greeted && len(read) >= frameHeader {
			length := frameHeader + int(binary.BigEndian.Uint32(read)>>8)
			if len(read) < length {
				break
			}
			if read[3] == ping && read[4]&ack == 0 {
				n++
			}
			read = read[length:]
		}
		return n
	}
}

// The client does not measure its connection with a ping for each answer, which the server would have to answer.
func TestNoPingForEachAnswer(t *testing.T) {
	t.Parallel()
	p := proxy.New(t, server(t).Addr)
	p.Count(pings)
	d := mustOpen(t, "etcd://"+p.Addr)
	const cycles = 50
	for i := range cycles {
		release(t, d, acquire(t, d, claim(fmt.Sprint("job", i), long)))
	}
	if n := p.Counted(); n > cycles/5 {
		t.Errorf("%d pings in %d cycles", n, cycles)
	}
}
