package servers

import (
	"net"
	"syscall"
	"testing"
)

func TestAddressIsReserved(t *testing.T) {
	addr := FreeAddr(t)
	if _, ok := reserve(addr); ok {
		t.Errorf("%s is given to two", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatalf("its server cannot listen: %v", err)
	}
	l.Close()
}

func TestAddressInUseIsNotGiven(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, ok := reserve(l.Addr().String()); ok {
		t.Errorf("%s is given though somebody listens", l.Addr())
	}
}

// A listener that a process has inherited, and closes in a moment, keeps nobody from a reserved address.
func TestAddressThatIsInUseForAMoment(t *testing.T) {
	tries := 0
	l, err := listenAt(FreeAddr(t), func(network, addr string) (net.Listener, error) {
		if tries++; tries < 3 {
			return nil, &net.OpError{Op: "listen", Err: syscall.EADDRINUSE}
		}
		return net.Listen(network, addr)
	})
	if err != nil {
		t.Fatalf("after %d tries: %v", tries, err)
	}
	l.Close()
}
