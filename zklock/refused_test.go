package zklock

import (
	"errors"
	"net"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/driver"
)

// A server refuses the client after another one got a request and broke the connection. That request may have been
// applied; a question is refused.
func TestRefusalAfterABrokenConnection(t *testing.T) {
	d, err := New([]string{"127.0.0.1:1"}, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := &session{d: d, link: d.newLink(d.hosts, 0), lost: make(chan struct{}), back: make(chan struct{})}
	breaks := func(*zk.Conn) (string, error) {
		s.link.conn, _ = net.Pipe()
		s.link.refuse(errNoSASL.answered())
		return "", zk.ErrConnectionClosed
	}
	var said *driver.ServerError
	if _, err := call(t.Context(), s, breaks); isRefused(err) || !errors.As(err, &said) {
		t.Errorf("a request: %v", err)
	}
	hangsUp := func(*zk.Conn) (string, error) {
		s.link.refuse(errNoSASL.answered())
		return "", zk.ErrConnectionClosed
	}
	if _, err := call(t.Context(), s, hangsUp); !isRefused(err) {
		t.Errorf("a request to the server that refuses: %v", err)
	}
	if _, err := ask(t.Context(), s, breaks); !isRefused(err) {
		t.Errorf("a question: %v", err)
	}
}
