package servers

import (
	"net"
	"os"
	"path/filepath"
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

// The user of a server gets through to its folder. The folder of all temporary files belongs to others, too, however
// few levels there are below it.
func TestWayToAFolder(t *testing.T) {
	for _, below := range [][]string{{"data"}, {"test", "data"}, {"test", "001", "data"}} {
		all := t.TempDir()
		if err := os.Chmod(all, 0o777|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
		t.Setenv("TMPDIR", all)
		dir := filepath.Join(all, filepath.Join(below...))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := openWay(dir); err != nil {
			t.Fatal(err)
		}
		for parent, want := filepath.Dir(dir), os.FileMode(0o711); ; parent = filepath.Dir(parent) {
			if parent == all {
				want = 0o777 | os.ModeSticky
			}
			info, err := os.Stat(parent)
			if err != nil || info.Mode()&^os.ModeDir != want {
				t.Errorf("%s of %s has the mode %v, %v; want %v", parent, dir, info.Mode(), err, want)
			}
			if parent == all {
				break
			}
		}
	}
}
