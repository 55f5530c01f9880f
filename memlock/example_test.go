package memlock_test

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

// Two clients of one store want the same lock.
func Example() {
	ctx := context.Background()
	alice := memlock.New()
	bob := alice.Client()

	mine := driver.Claim{Name: "orders", ID: "alice-1", Weight: 1, Limit: 1, TTL: 10 * time.Second, Queue: true}
	yours := driver.Claim{Name: "orders", ID: "bob-1", Weight: 1, Limit: 1, TTL: 10 * time.Second, Queue: true}

	a, _ := alice.Request(ctx, mine)
	b, _ := bob.Request(ctx, yours)
	fmt.Println("alice:", a.Granted, "bob:", b.Granted)

	alice.Release(ctx, mine)
	b, _ = bob.Wait(ctx, yours)
	fmt.Println("bob:", b.Granted, "with a greater token:", b.Token > a.Token)
	// Output:
	// alice: true bob: false
	// bob: true with a greater token: true
}
