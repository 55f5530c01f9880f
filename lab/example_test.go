package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"

	_ "modernc.org/sqlite" // the database behind file:

	"github.com/holdfast-go/holdfast"
	_ "github.com/holdfast-go/holdfast/etcdlock"  // etcd://
	_ "github.com/holdfast-go/holdfast/memlock"   // mem:
	_ "github.com/holdfast-go/holdfast/redislock" // redis://
	_ "github.com/holdfast-go/holdfast/sqllock"   // file:
)

// The configuration chooses the backend, as with database/sql; the program says what can be chosen by what it imports.
func Example_configuration() {
	ctx := context.Background()
	client, err := holdfast.Open(ctx, cmp.Or(os.Getenv("LOCKS"), "mem:default"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	err = client.Mutex("orders/42").Do(ctx, func(context.Context, *holdfast.Lease) error {
		fmt.Println("alone")
		return nil
	})
	fmt.Println(err)
	// Output:
	// alone
	// <nil>
}
