package etcdfence_test

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast"
	_ "github.com/holdfast-go/holdfast/etcdlock"
	"github.com/holdfast-go/holdfast/fence/etcdfence"
)

// address is where the examples find a server.
var address = "localhost:2379"

// A holder was paused until its lease was over, and writes as if it still had the lock.
func ExampleFind() {
	ctx := context.Background()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	fmt.Println(writeLate(ctx, client)) // ErrStale
}

func writeLate(ctx context.Context, client *clientv3.Client) error {
	paused, err := lock(ctx)
	if err != nil {
		return err
	}
	held, err := etcdfence.Find(ctx, client, "/holdfast", "report", paused.Token())
	if err != nil {
		return err
	}
	if _, err := takeOver(ctx); err != nil {
		return err
	}
	_, err = held.Do(ctx, clientv3.OpPut("text", "late"))
	return err
}

// The same without asking for the lock: the next holder has written, so its token is known.
func ExampleDo() {
	ctx := context.Background()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	fmt.Println(writeAfter(ctx, client)) // ErrStale
}

func writeAfter(ctx context.Context, client *clientv3.Client) error {
	paused, err := lock(ctx)
	if err != nil {
		return err
	}
	now, err := takeOver(ctx)
	if err != nil {
		return err
	}
	if _, err := etcdfence.Do(ctx, client, "report", now.Token(), clientv3.OpPut("text", "new")); err != nil {
		return err
	}
	_, err = etcdfence.Do(ctx, client, "report", paused.Token(), clientv3.OpPut("text", "late"))
	return err
}

func lock(ctx context.Context) (*holdfast.Lease, error) {
	client, err := holdfast.Open(ctx, "etcd://"+address)
	if err != nil {
		return nil, err
	}
	return client.Mutex("report").Lock(ctx)
}

// takeOver is what the end of the holder's TTL leads to, without the wait.
func takeOver(ctx context.Context) (*holdfast.Lease, error) {
	client, err := holdfast.Open(ctx, "etcd://"+address)
	if err != nil {
		return nil, err
	}
	queue, err := client.Queue(ctx, "report")
	if err != nil {
		return nil, err
	}
	if err := client.Break(ctx, "report", queue[0].ID); err != nil {
		return nil, err
	}
	return client.Mutex("report").Lock(ctx)
}
