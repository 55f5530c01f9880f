package servers

import (
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

// needNamespaces skips the test where it may not make namespaces.
func needNamespaces(t testing.TB) {
	t.Helper()
	for _, program := range []string{"ip", "nsenter"} {
		_, err := exec.LookPath(program)
		Require(t, err == nil, program, "apt-get install iproute2 util-linux")
	}
	Require(t, os.Geteuid() == 0 && setns[runtime.GOARCH] != 0, "the right to make network namespaces",
		"sudo make test")
}

// namespace makes a network namespace that lasts until the test, or this process, ends.
func namespace(t testing.TB) *os.File {
	t.Helper()
	type result struct {
		ns  *os.File
		err error
	}
	made := make(chan result)
	go func() { // ends with its thread, which is in the namespace
		runtime.LockOSThread()
		if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
			made <- result{err: err}
			return
		}
		ns, err := os.Open("/proc/thread-self/ns/net")
		made <- result{ns, err}
	}()
	r := <-made
	if r.err != nil {
		t.Fatalf("make a network namespace: %v", r.err)
	}
	t.Cleanup(func() { r.ns.Close() })
	return r.ns
}

// inside runs a command in a namespace.
func inside(t testing.TB, ns *os.File, program string, args ...string) {
	t.Helper()
	cmd := exec.Command("nsenter", append([]string{"--net=" + pathOf(ns), program}, args...)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", cmd, err, said)
	}
}

// publish forwards what comes to a loopback address of ours to a port of server i.
func (n *Network) publish(t testing.TB, addr string, i int, port string) {
	t.Helper()
	l, err := listenAt(addr, net.Listen)
	if err != nil {
		t.Fatal(err)
	}
	var open sync.Map
	t.Cleanup(func() {
		l.Close()
		open.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true })
	})
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Store(c, nil)
			go func() { // ends with the connection
				defer open.Delete(c)
				n.forward(c, net.JoinHostPort(n.IP(i), port))
			}()
		}
	}()
}

// forward is the way of one client to a server.
func (n *Network) forward(client net.Conn, to string) {
	defer client.Close()
	server, err := dialFrom(n.hub, to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { // ends with either connection
		defer client.Close()
		defer server.Close()
		io.Copy(server, client)
	}()
	io.Copy(client, server)
}

// setns is the number of the system call, which package syscall does not know everywhere.
var setns = map[string]uintptr{"amd64": 308, "arm64": 268}

// dialFrom connects from a namespace. A socket stays where it was made.
func dialFrom(ns *os.File, addr string) (conn net.Conn, err error) {
	done := make(chan struct{})
	go func() { // ends with its thread, which is in the namespace
		defer close(done)
		runtime.LockOSThread()
		if _, _, errno := syscall.RawSyscall(setns[runtime.GOARCH], ns.Fd(), syscall.CLONE_NEWNET, 0); errno != 0 {
			err = errno
			return
		}
		conn, err = net.Dial("tcp", addr)
	}()
	<-done
	return conn, err
}
