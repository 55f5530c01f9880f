package examples

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/holdfast-go/holdfast"
)

// exclusive is a middleware for asynq: tasks of one type run one after the other, on whichever machine. A task whose
// lock is lost fails, and asynq runs it again; one that could not have its lock does, too.
func exclusive(client *holdfast.Client) asynq.MiddlewareFunc {
	return func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
			return client.Mutex("asynq/"+task.Type()).Do(ctx, func(ctx context.Context, _ *holdfast.Lease) error {
				return next.ProcessTask(ctx, task)
			})
		})
	}
}

// asynq gives a task at least once, and to two workers when the first is slow: the lock keeps them apart, and its token
// tells a resource which is the newer.
func Example_asynq() {
	client, server := onRedis(), asynq.RedisClientOpt{Addr: redis.Addr}
	defer client.Close(context.Background())
	mux, ran := asynq.NewServeMux(), make(chan string, 1)
	mux.Use(exclusive(client))
	mux.HandleFunc("report", func(ctx context.Context, task *asynq.Task) error {
		lease, _ := holdfast.LeaseFrom(ctx)
		ran <- fmt.Sprintf("%s under %s", task.Payload(), lease.Name())
		return nil
	})
	workers := asynq.NewServer(server, asynq.Config{Concurrency: 1, LogLevel: asynq.FatalLevel})
	if err := workers.Start(mux); err != nil {
		log.Fatal(err)
	}
	defer workers.Shutdown()
	tasks := asynq.NewClient(server)
	defer tasks.Close()
	if _, err := tasks.Enqueue(asynq.NewTask("report", []byte("march"))); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-ran)
	// Output: march under asynq/report
}

// ChargeArgs are the arguments of a job of River.
type ChargeArgs struct {
	Customer string `json:"customer"`
}

// Kind names the job.
func (ChargeArgs) Kind() string { return "charge" }

// A Charger charges one customer at a time, whatever other jobs, programs or machines do for the same customer.
type Charger struct {
	river.WorkerDefaults[ChargeArgs]
	client *holdfast.Client
	ran    chan string
}

// busy is how long a job waits for a customer who is busy. A snooze of zero would run it again at once, and again.
const busy = 5 * time.Second

// Work comes back later when the customer is busy, rather than keep a worker waiting.
func (w *Charger) Work(ctx context.Context, job *river.Job[ChargeArgs]) error {
	lease, err := w.client.Mutex("customer/" + job.Args.Customer).TryLock(ctx)
	if errors.Is(err, holdfast.ErrNotAcquired) {
		return river.JobSnooze(busy)
	}
	if err != nil {
		return err
	}
	return holdfast.Leases{lease}.Do(ctx, func(ctx context.Context, _ holdfast.Leases) error {
		w.ran <- fmt.Sprintf("%s under %s", job.Args.Customer, lease.Name())
		return nil
	})
}

func Example_river() {
	ctx, client := context.Background(), onRedis()
	defer client.Close(ctx)
	pool, err := pgxpool.New(ctx, postgresURL())
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		log.Fatal(err)
	}
	charger, workers := &Charger{client: client, ran: make(chan string, 1)}, river.NewWorkers()
	river.AddWorker(workers, charger)
	queue, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2}}, Workers: workers,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := queue.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer queue.Stop(ctx)
	if _, err := queue.Insert(ctx, ChargeArgs{Customer: "42"}, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-charger.ran)
	// Output: 42 under customer/42
}
