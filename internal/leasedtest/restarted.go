package leasedtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// RestartedEmpty has a server lose all that it knew, while a client holds a lock, waits for another, and watches a
// third. The holder learns that it lost, the waiter is granted its lock, and the client is served as ever.
func RestartedEmpty(t *testing.T, e Engine, server *servers.Server) {
	ctx, ttl := Limit(t), holdfast.WithTTL(3*time.Second)
	patient := holdfast.WithPatience(5 * time.Minute)
	other, d := e.Open(t, server.Addr), e.Open(t, server.Addr)
	for range 100 { // the new server makes fewer changes; for long claims there is something that lives long
		claimed.Release(t, d, claimed.Acquire(t, d, claimed.Mutex("earlier", Long)))
	}
	claimed.Acquire(t, other, claimed.Mutex("busy", Long))
	client := holdfast.New(d)
	held, err := client.Mutex("held", ttl, patient).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	waited, watched := make(chan error, 1), make(chan error, 1)
	go func() { // ends when it is granted
		_, err := client.Mutex("busy", ttl, patient).Lock(ctx)
		if errors.Is(err, holdfast.ErrBroken) { // the server was back before the claim's time was over
			_, err = client.Mutex("busy", ttl, patient).Lock(ctx)
		}
		waited <- err
	}()
	Queued(t, other, "busy", 2)
	watching := make(chan struct{}, 1)
	go func() { watched <- seen(ctx, client, "watched", watching) }() // ends when somebody is seen
	<-watching

	server.Kill(t)
	server.RestartEmpty(t)
	select {
	case <-held.Done():
	case <-ctx.Done():
	}
	if err := held.Err(); !errors.Is(err, holdfast.ErrLost) {
		t.Errorf("the lease says %v, want that it is lost", err)
	}
	if err := <-waited; err != nil {
		t.Errorf("waiting while the server forgot: %v", err)
	}
	if _, err := client.Mutex("held", ttl, patient).Lock(ctx); err != nil {
		t.Errorf("locking again what the server forgot: %v", err)
	}
	if _, err := client.Mutex("watched", patient).Lock(ctx); err != nil {
		t.Errorf("locking after the server forgot: %v", err)
	}
	if err := <-watched; err != nil {
		t.Errorf("watching while the server forgot: %v", err)
	}
	if queue, err := client.Queue(ctx, "watched"); err != nil || len(queue) != 1 {
		t.Errorf("the queue is %v, %v; want one holder", queue, err)
	}
}

// seen watches a lock until somebody has it. It tells when it has begun.
func seen(ctx context.Context, client *holdfast.Client, name string, begun chan<- struct{}) error {
	for queue := range client.Watch(ctx, name) {
		if len(queue) > 0 {
			return nil
		}
		select {
		case begun <- struct{}{}:
		default: // that was told
		}
	}
	return ctx.Err()
}
