package template_test

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/driver/template"
)

// A program uses locks on the store.
func Example() {
	ctx := context.Background()
	client := holdfast.New(drivertest.NewFacade(template.New(quiet())))
	defer client.Close(ctx)

	lease, err := client.Mutex("orders").Lock(ctx)
	fmt.Println("locked:", err == nil)
	_, err = client.Mutex("orders").TryLock(ctx)
	fmt.Println("taken:", err != nil)
	fmt.Println("released:", lease.Release(ctx) == nil)
	// Output:
	// locked: true
	// taken: true
	// released: true
}
