package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

// zkRequest is a request about a node; where there is no path, it has no body.
func zkRequest(op int32, path string) []byte {
	body := binary.BigEndian.AppendUint32(nil, 1) // its number
	body = binary.BigEndian.AppendUint32(body, uint32(op))
	if path != "" {
		body = binary.BigEndian.AppendUint32(body, uint32(len(path)))
		body = append(body, path...)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestZooKeeperCountsRequests(t *testing.T) {
	const create = 1
	var sent bytes.Buffer
	for _, request := range [][]byte{
		zkRequest(0, ""), // the first asks for a session, and has no operation
		zkRequest(create, "/locks/a"),
		zkRequest(zkPing, ""),
		zkRequest(zkSetData, "/beats/1"),
		zkRequest(zkSetData, "/locks/a"),
		zkRequest(zkClose, ""),
	} {
		sent.Write(request)
	}
	renews := func(c Call) bool { return c.IsWrite() && c.Path == "/beats/1" }
	got, err := countAll(ZooKeeper(renews), &sent)
	if want := (Count{Requests: 2, Upkeep: 4}); got != want || !errors.Is(err, io.EOF) {
		t.Errorf("counted %+v, %v, want %+v", got, err, want)
	}
}

func TestZooKeeperRefusesWhatItCannotCount(t *testing.T) {
	session := string(zkRequest(0, ""))
	for _, sent := range []string{"ruok, which is no length", session + "\x00\x00\x00\x01x", session + "\x00\x00"} {
		if got, err := countAll(ZooKeeper(nil), bytes.NewBufferString(sent)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("counted %+v in %q without an error", got, sent)
		}
	}
}
