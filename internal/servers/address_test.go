package servers

import (
	"net"
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
