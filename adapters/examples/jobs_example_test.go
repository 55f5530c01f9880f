package examples

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/robfig/cron/v3"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/cronlock"
	"github.com/holdfast-go/holdfast/adapters/gocronlock"
)

// Two schedulers have the same job; one of them runs it, with the lease of its run.
func Example_gocron() {
	client := onRedis()
	defer client.Close(context.Background())
	locker := gocronlock.NewLocker(client, 30*time.Second).WithPrefix("gocron/")
	ran := make(chan string, 2)
	report := func(ctx context.Context, l *holdfast.Lease) error {
		ran <- fmt.Sprint(l.Name(), " ", l.Token() > 0)
		return nil
	}
	for range 2 {
		scheduler, err := gocron.NewScheduler()
		if err != nil {
			log.Fatal(err)
		}
		defer scheduler.Shutdown()
		_, err = locker.NewJob(scheduler, "report", gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), report)
		if err != nil {
			log.Fatal(err)
		}
		scheduler.Start()
	}
	fmt.Println(<-ran)
	// Output: gocron/report true
}

func Example_cron() {
	client := onRedis()
	defer client.Close(context.Background())
	ran := make(chan string, 1)
	c := cron.New(cron.WithSeconds())
	_, err := c.AddJob("* * * * * *", &cronlock.Job{
		Client: client, Name: "cron/report", Splay: time.Minute, // one run is enough here
		Do: func(ctx context.Context, l *holdfast.Lease) error {
			ran <- l.Name()
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	c.Start()
	defer c.Stop()
	fmt.Println(<-ran)
	// Output: cron/report
}
