package redlock

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"

	_ "github.com/holdfast-go/holdfast/quorum"
	_ "github.com/holdfast-go/holdfast/redislock"
)

// Redlock over five Redis servers. The program imports packages quorum and redislock for their URL schemes.
func Example() {
	ctx := context.Background()
	client, err := holdfast.Open(ctx, "redlock://h1,h2,h3,h4,h5?maxttl=30s", holdfast.WithTTL(10*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	err = client.Mutex("orders/42").Do(ctx, func(ctx context.Context, lease *holdfast.Lease) error {
		fmt.Println("write with the token", lease.Token())
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
}
