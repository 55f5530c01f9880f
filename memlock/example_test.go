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

	mine, err := alice.Mutex("orders").Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mine.Release(ctx)
	yours, err := bob.Mutex("orders").TryLock(ctx)
	if err != nil {
		fmt.Println("bob:", err)
		return
	}
	yours.Release(ctx)
	// Output:
	// bob: lock "orders" on mem: lock not acquired: it is taken; try later, or wait for it
}
