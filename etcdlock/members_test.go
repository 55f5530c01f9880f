package etcdlock

import (
	"context"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// A stream that cannot begin has its member avoided, and closing waits for the end of the stream: neither waits for
// the other.
func TestCloseWhileAMemberIsAvoided(t *testing.T) {
	t.Parallel()
	nobody := []string{"127.0.0.1:1", "127.0.0.1:2"}
	client, err := clientv3.New(clientv3.Config{Endpoints: nobody, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ms, err := newMembers(client)
	if err != nil {
		t.Fatal(err)
	}
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

// isClosing reports whether a member whose stream is busy is about to be closed: then its watcher is not busy.
func isClosing(m *member) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	m.watcher.Watch(ctx, "key")
	return ctx.Err() == nil
}
