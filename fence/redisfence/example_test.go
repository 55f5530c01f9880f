package redisfence_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/fence"
	"github.com/holdfast-go/holdfast/fence/redisfence"
	"github.com/holdfast-go/holdfast/internal/servers"
	_ "github.com/holdfast-go/holdfast/redislock"
)

// address is where the example finds a server.
var address = "localhost:6379"

// A holder was paused until its lease was over, and writes as if it still had the lock.
func ExampleGuard() {
	fmt.Println(writeLate(context.Background()))
}

func writeLate(ctx context.Context) error {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}, DisableCache: true})
	if err != nil {
		return err
	}
	defer client.Close()
	late, now, err := twoHolders(ctx)
	if err != nil {
		return err
	}

	guard := &redisfence.Guard{Client: client}
	write := func(lease *holdfast.Lease, text string) error {
		return guard.Do(ctx, "report", lease.Token(), "SET", []string{"{report}:text"}, text).Error()
	}
	if err := write(now, "new"); err != nil {
		return err
	}
	return write(late, "old") // ErrStale: the text stays "new"
}

// twoHolders returns two leases of one lock. Breaking the first stands for the end of its TTL.
func twoHolders(ctx context.Context) (late, now *holdfast.Lease, err error) {
	var clients [2]*holdfast.Client
	for i := range clients {
		if clients[i], err = holdfast.Open(ctx, "redis://"+address); err != nil {
			return nil, nil, err
		}
	}
	if late, err = clients[0].Mutex("report").Lock(ctx); err != nil {
		return nil, nil, err
	}
	queue, err := clients[1].Queue(ctx, "report")
	if err != nil {
		return nil, nil, err
	}
	if err := clients[1].Break(ctx, "report", queue[0].ID); err != nil {
		return nil, nil, err
	}
	now, err = clients[1].Mutex("report").Lock(ctx)
	return late, now, err
}

func TestExample(t *testing.T) {
	s := servers.Redis(t)
	address = s.Addr
	if err := writeLate(t.Context()); !errors.Is(err, fence.ErrStale) {
		t.Errorf("the late write: %v", err)
	}
	if got := s.RedisCommand(t, "GET", "{report}:text"); got != "new" {
		t.Errorf("the text is %q", got)
	}
}
