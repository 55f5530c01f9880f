package servers

import (
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Ports that systems do not give to clients by themselves: the port of a server that is stopped is not taken by an
// outgoing connection before it restarts. There is room above for servers that add to theirs.
const firstPort, endPort = 12000, 32000

// FreeAddr returns a loopback address on which nobody listens, and which is given to nobody else before the test ends.
func FreeAddr(t testing.TB) string {
	t.Helper()
	for range 100 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+rand.IntN(endPort-firstPort)))
		if free, ok := reserve(addr); ok {
			t.Cleanup(free)
			return addr
		}
	}
	t.Fatalf("found no free port from %d to %d", firstPort, endPort)
	return ""
}

// reserve keeps an address from other tests, of this process and others, if nobody listens there. Servers listen by
// TCP; a socket for UDP reserves their port, also while they start or are stopped.
func reserve(addr string) (free func(), ok bool) {
	reservation, err := net.ListenPacket("udp", addr)
	if err != nil {
		return nil, false
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		reservation.Close()
		return nil, false
	}
	l.Close()
	return func() { reservation.Close() }, true
}

// listenAt listens at a reserved address. A process that was started while [reserve] looked has that listener, too,
// until it runs its program: so an address that is in use is tried again for a while.
func listenAt(addr string, listen func(network, addr string) (net.Listener, error)) (l net.Listener, err error) {
	for end := time.Now().Add(startTime); ; time.Sleep(time.Millisecond) {
		l, err = listen("tcp", addr)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(end) {
			return l, err
		}
	}
}

// folder makes an empty folder that is removed with the test.
func folder(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// openTo gives a folder that [folder] made to a user, who gets through to it but sees nothing else.
func openTo(user, dir string) error {
	if err := openWay(dir); err != nil {
		return err
	}
	return giveTo(user, dir)
}

// openWay lets everybody through to a folder. That of all temporary files, which is not ours alone, stays as it is.
func openWay(dir string) error {
	all := filepath.Clean(os.TempDir()) + string(filepath.Separator)
	for parent := filepath.Dir(dir); strings.HasPrefix(parent, all); parent = filepath.Dir(parent) {
		if err := os.Chmod(parent, 0o711); err != nil {
			return err
		}
	}
	return nil
}
