package promlock_test

import (
	"context"
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/promlock"
)

func ExampleNew() {
	registry := prometheus.NewRegistry()
	client, err := holdfast.Open(context.Background(), "mem:metrics", holdfast.WithObserver(promlock.New(registry)))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.Background())
	registry.MustRegister(promlock.NewCollector(client))
	err = client.Mutex("report").Do(context.Background(), func(context.Context, *holdfast.Lease) error { return nil })
	families, _ := registry.Gather()
	for _, f := range families {
		fmt.Println(f.GetName())
	}
	fmt.Println(err)
	// Output:
	// holdfast_acquire_seconds
	// holdfast_held
	// holdfast_hold_seconds
	// holdfast_renewal_failures_total
	// holdfast_waiting
	// <nil>
}
