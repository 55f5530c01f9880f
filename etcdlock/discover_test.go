package etcdlock

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
)

// A nameServer answers questions for SRV records over UDP: with one record for the services that it has.
func nameServer(t *testing.T, records map[string]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() { // ends with the socket
		for buf := make([]byte, 512); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			conn.WriteTo(answer(buf[:n], records), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// answer answers a question, as RFC 1035 and RFC 2782 say.
func answer(question []byte, records map[string]string) []byte {
	name, end := "", 12
	for question[end] > 0 {
		size := int(question[end])
		name += string(question[end+1:end+1+size]) + "."
		end += 1 + size
	}
	end += 5 // the end of the name, type and class
	target, found := records[strings.TrimSuffix(name, ".")]
	reply := slices.Clone(question[:end])
	reply[2], reply[3] = 0x84, 0x80             // an authoritative answer
	copy(reply[6:12], []byte{0, 1, 0, 0, 0, 0}) // one record
	if !found {
		reply[3] |= 3 // no such name
		reply[7] = 0
		return reply
	}
	data := []byte{0, 0, 0, 0, 0x09, 0x4b} // priority, weight, port 2379
	for label := range strings.SplitSeq(target, ".") {
		data = append(append(data, byte(len(label))), label...)
	}
	data = append(data, 0)
	reply = append(reply, 0xc0, 12, 0, 33, 0, 1, 0, 0, 0, 60, 0, byte(len(data))) // the name above, SRV, a minute
	return append(reply, data...)
}

// The servers of a domain are those that DNS has for the service, with TLS or without.
func TestDiscover(t *testing.T) {
	t.Parallel()
	resolver := nameServer(t, map[string]string{
		"_etcd-client._tcp.example.test":     "plain.example.test",
		"_etcd-client-ssl._tcp.example.test": "secure.example.test",
	})
	for secure, want := range map[bool]string{false: "plain.example.test:2379", true: "secure.example.test:2379"} {
		got, err := lookUp(t.Context(), resolver, "example.test", secure)
		if err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("with TLS %v: got %v, %v, want %s", secure, got, err, want)
		}
	}
	_, err := lookUp(t.Context(), resolver, "elsewhere.test", false)
	if err == nil || !strings.Contains(err.Error(), "elsewhere.test") {
		t.Errorf("a domain without servers: %v", err)
	}
}
