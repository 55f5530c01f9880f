package etcdlock

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc/connectivity"
)

// A stream that cannot begin has its member avoided, and closing waits for the end of the stream: neither waits for
// the other.
func TestCloseWhileAMemberIsAvoided(t *testing.T) {
	t.Parallel()
	nobody := []string{"127.0.0.1:1", "127.0.0.1:2"}
	client, ms := membersAt(t, nobody...)
	defer closeAll(ms.list)
	failing, closing := make(chan struct{}), make(chan struct{})
	fails := sync.OnceFunc(func() { close(failing) })
	m, err := newMember(client, nobody[0], func(m *member) {
		fails()
		<-closing
		ms.avoid(m)
	})
	if err != nil {
		t.Fatal(err)
	}
	ms.list = []*member{m}
	go m.watcher.Watch(t.Context(), "key") // ends with the watcher
	<-failing
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		ms.close()
	}()
	for !isClosing(m) {
	}
	close(closing)
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

// membersAt returns a client of some servers, and those as its members.
func membersAt(t *testing.T, endpoints ...string) (*clientv3.Client, *members) {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	ms, err := newMembers(client)
	if err != nil {
		t.Fatal(err)
	}
	return client, ms
}

// The member that is asked is one of those that the client has now, and stays the same while it is one of them.
func TestMembersThatChange(t *testing.T) {
	t.Parallel()
	client, ms := membersAt(t, "127.0.0.1:1", "127.0.0.1:2")
	var all []*member
	now := func(endpoints ...string) string {
		client.SetEndpoints(endpoints...)
		ms.mu.Lock()
		ms.looked = time.Time{} // long ago
		all = append(all, ms.list...)
		ms.mu.Unlock()
		m, several := ms.first()
		if !several || !slices.Contains(endpoints, m.endpoint) {
			t.Errorf("of %q %s is asked", endpoints, m.endpoint)
		}
		if order := ms.inOrder(); len(order) != len(endpoints) || order[0] != m {
			t.Errorf("of %q %d are asked in turn, and not that one first", endpoints, len(order))
		}
		return m.endpoint
	}
	kept := now("127.0.0.1:3", "127.0.0.1:4", "127.0.0.1:5")
	for i := range 8 { // another might be drawn
		if again := now(kept, "127.0.0.1:6", fmt.Sprint("127.0.0.1:", 10+i)); again != kept {
			t.Errorf("%s is asked, where %s was and still is one of them", again, kept)
		}
	}
	ms.close()
	for _, m := range all {
		if m.conn.GetState() != connectivity.Shutdown {
			t.Errorf("the connection to %s stays open", m.endpoint)
		}
	}
}

// A server that was away for long is found as soon as it is back and somebody asks it: no request waits for the end of
// the pauses between attempts to connect, which grow to minutes.
func TestTheOnlyServerIsBackSoon(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	connections := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
			connections <- struct{}{}
		}
	}()
	client, ms := membersAt(t, l.Addr().String())
	defer ms.close()
	d := &Driver{client: client, members: ms, lifetime: t.Context()}
	within, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 12 { // with pauses of a second and more, each longer than the last by half of it, it takes minutes
		for begun := false; !begun; {
			if _, err := d.get(within, only("key")); within.Err() != nil || err == nil {
				t.Fatalf("%v, and then %v", err, within.Err())
			}
			select {
			case <-connections:
				begun = true
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}

// isClosing reports whether a member whose stream is busy is about to be closed: then its watcher is not busy.
func isClosing(m *member) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	m.watcher.Watch(ctx, "key")
	return ctx.Err() == nil
}
