package gocronlock_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/adapters/gocronlock"
	"github.com/holdfast-go/holdfast/memlock"
)

type shop struct{}

func (*shop) report() {}

func report() {}

func generic[T any]() {}

func rangedOver(yield func(func()) bool) { yield(func() {}) }

// Jobs that have the name of a function that others may have are refused, whatever the function is.
func TestUnnamedJobs(t *testing.T) {
	locker := gocronlock.NewLocker(newClient(t, memlock.New()), 0).WithPrefix("shop/")
	var inRange func()
	for f := range rangedOver {
		inRange = f
	}
	for name, task := range map[string]gocron.Task{
		"a Task":             locker.Task(func(context.Context, *holdfast.Lease) error { return nil }),
		"a closure":          gocron.NewTask(func() {}),
		"a closure in one":   gocron.NewTask(func() func() { return func() {} }()),
		"a method":           gocron.NewTask(new(shop).report),
		"a generic function": gocron.NewTask(generic[int]),
		"one of a range":     gocron.NewTask(inRange),
	} {
		if err := lockFor(t, locker, task); err == nil || !strings.Contains(err.Error(), "gocron.WithName") {
			t.Errorf("%s: %v, want an error that says how to name the job", name, err)
		}
	}
	if err := lockFor(t, locker, gocron.NewTask(report)); err != nil {
		t.Errorf("the only job of a function: %v", err)
	}
}

// lockFor locks a run of a job that has no name, as gocron does.
func lockFor(t *testing.T, locker *gocronlock.Locker, task gocron.Task) error {
	t.Helper()
	s, err := gocron.NewScheduler()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown()
	job, err := s.NewJob(gocron.DurationJob(time.Hour), task)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := locker.Lock(t.Context(), job.Name())
	if err != nil {
		return err
	}
	return lock.Unlock(t.Context())
}

// The name of a plain function is for one job of a scheduler at a time. Names that people chose are for as many as they
// like: the schedulers of a test may share a locker.
func TestTwoJobsOfAFunction(t *testing.T) {
	locker := gocronlock.NewLocker(newClient(t, memlock.New()), 0)
	one, remove := context.WithCancel(t.Context())
	other, end := context.WithCancel(t.Context())
	defer end()
	lock := func(job context.Context, key string) error {
		l, err := locker.Lock(job, key)
		if err != nil {
			return err
		}
		return l.Unlock(job)
	}
	for _, key := range []string{"example.org/jobs.Report", "example.org/jobs.Report", "report", "a report"} {
		if err := lock(one, key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if err := lock(other, "example.org/jobs.Report"); err == nil || !strings.Contains(err.Error(), "two jobs") {
		t.Errorf("another job of the function: %v, want an error that says so", err)
	}
	for _, key := range []string{"report", "a report", "example.org/jobs.Clean"} {
		if err := lock(other, key); err != nil {
			t.Errorf("another job called %s: %v", key, err)
		}
	}
	remove()
	if err := lock(other, "example.org/jobs.Report"); err != nil {
		t.Errorf("after the first was removed: %v", err)
	}
}

// Jobs that NewJob makes in a loop all run, each under its own lock.
func TestNewJob(t *testing.T) {
	locker := gocronlock.NewLocker(newClient(t, memlock.New()), time.Hour)
	s, err := gocron.NewScheduler()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown()
	const jobs = 3
	ran, failed := make(chan string, jobs), make(chan error, jobs)
	work := func(_ context.Context, l *holdfast.Lease) error {
		ran <- l.Name()
		return nil
	}
	for _, name := range []string{"report", "invoice", "cleanup"} {
		_, err := locker.NewJob(s, name, gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), work,
			gocron.WithEventListeners(gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) { failed <- err })))
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := locker.NewJob(s, "", gocron.DurationJob(time.Hour), work); err == nil {
		t.Error("a job without a name was made")
	}
	s.Start()
	names := make(map[string]bool)
	for range jobs {
		select {
		case name := <-ran:
			names[name] = true
		case err := <-failed:
			t.Fatal(err)
		}
	}
	if len(names) != jobs || !names["report"] || !names["invoice"] || !names["cleanup"] {
		t.Errorf("the jobs ran under %v", names)
	}
}

// gocron is silent about jobs that do not run, so the log says it, once for each name.
func TestRefusalIsLogged(t *testing.T) {
	var said bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
	defer slog.SetDefault(before)
	locker := gocronlock.NewLocker(newClient(t, memlock.New()), 0)
	for range 3 {
		if _, err := locker.Lock(t.Context(), "main.main.func1"); err == nil {
			t.Error("a job that is called after a closure runs")
		}
	}
	if n := strings.Count(said.String(), "main.main.func1"); strings.Count(said.String(), "\n") != 1 || n == 0 {
		t.Errorf("it was logged: %q, want one line", said.String())
	}
}
