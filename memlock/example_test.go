package memlock_test

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/memlock"
)

// Two clients of one store want the same lock.
func Example() {
	ctx := context.Background()
	store := memlock.New()
	alice, bob := holdfast.New(store), holdfast.New(store.Client())

	mine, _ := alice.Mutex("orders").Lock(ctx)
	_, err := bob.Mutex("orders").TryLock(ctx)
	fmt.Println("bob, while alice has the lock:", err)

	mine.Release(ctx)
	yours, _ := bob.Mutex("orders").TryLock(ctx)
	fmt.Println("bob, after that, has a greater token:", yours.Token() > mine.Token())
	// Output:
	// bob, while alice has the lock: lock "orders" on mem: lock not acquired: it is taken; try later, or wait for it
	// bob, after that, has a greater token: true
}
