package gocronlock_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/gocronlock"
)

func ExampleNewLocker() {
	client, err := holdfast.Open(context.Background(), "mem:cron") // redis://, etcd:// and so on for several machines
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.Background())
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(gocronlock.NewLocker(client, 30*time.Second)))
	if err != nil {
		log.Fatal(err)
	}
	ran := make(chan string)
	_, err = scheduler.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()),
		gocron.NewTask(func() { ran <- "reported" }), gocron.WithName("report"))
	if err != nil {
		log.Fatal(err)
	}
	scheduler.Start()
	fmt.Println(<-ran)
	fmt.Println(scheduler.Shutdown())
	// Output:
	// reported
	// <nil>
}
