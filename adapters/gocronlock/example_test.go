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
	locker := gocronlock.NewLocker(client, 30*time.Second)
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
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

// Jobs that are made in a loop need names of their own, which NewJob asks for.
func ExampleLocker_NewJob() {
	client, err := holdfast.Open(context.Background(), "mem:jobs") // redis://, etcd:// and so on for several machines
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(context.Background())
	scheduler, err := gocron.NewScheduler()
	if err != nil {
		log.Fatal(err)
	}
	locker, ran := gocronlock.NewLocker(client, 30*time.Second).WithPrefix("shop/"), make(chan string)
	for _, name := range []string{"invoice", "report"} {
		_, err := locker.NewJob(scheduler, name, gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()),
			func(ctx context.Context, l *holdfast.Lease) error {
				ran <- name + " under " + l.Name()
				return nil
			})
		if err != nil {
			log.Fatal(err)
		}
	}
	scheduler.Start()
	fmt.Println(<-ran)
	fmt.Println(<-ran)
	fmt.Println(scheduler.Shutdown())
	// Unordered output:
	// invoice under shop/invoice
	// report under shop/report
	// <nil>
}
