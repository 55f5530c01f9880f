package scale

import (
	"context"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/servers"
	_ "github.com/holdfast-go/holdfast/redislock" // the scheme redis
)

const (
	ttl = 15 * time.Second

	mostBytes      = 2048 // for each lease, in heap and stacks
	mostGoroutines = 20   // of the client and its connections together
	fewestInBatch  = 100  // on average
	patience       = 2 * time.Minute
)

// leases is how many one client holds. With the race detector everything takes several times as long and as much
// memory.
func leases() int {
	if bubble.Raced {
		return 20_000
	}
	return 100_000
}

// One client holds many leases for longer than their TTL. That must not cost a goroutine or a round trip for each.
func TestManyLeasesOfOneClient(t *testing.T) {
	effort.Long(t)
	leases := leases()
	h := hold(t, leases)
	select {
	case <-h.driver.after(3 * leases): // renewed three times in each TTL
	case <-time.After(patience):
		_, renewed, _ := h.driver.totals()
		t.Fatalf("%d of %d renewals within %v", renewed, 3*leases, patience)
	}
	batches, renewed, goroutines := h.driver.totals()
	t.Logf("%d leases in %v: %.0f bytes for each, %d goroutines, %d renewals in a batch",
		leases, h.took.Round(time.Millisecond), h.bytesEach, goroutines-h.before.goroutines, renewed/batches)

	if took := time.Since(h.since); took < ttl*9/10 { // a batch takes those along that are due a little later
		t.Errorf("renewed three times within %v, which is much less than the TTL", took)
	}
	h.allHeld(t)
	if got := goroutines - h.before.goroutines; got > mostGoroutines {
		t.Errorf("%d goroutines, want at most %d", got, mostGoroutines)
	}
	if got := renewed / batches; got < fewestInBatch {
		t.Errorf("%d renewals in a batch, want at least %d", got, fewestInBatch)
	}
	if !bubble.Raced && h.bytesEach > mostBytes {
		t.Errorf("%.0f bytes for each lease, want at most %d", h.bytesEach, mostBytes)
	}
}

// BenchmarkLeases measures how long it takes one client to acquire its leases, and what each needs in memory.
func BenchmarkLeases(b *testing.B) {
	var h *holding
	for b.Loop() {
		h = hold(b, leases())
	}
	b.ReportMetric(h.took.Seconds()/float64(len(h.leases))*1e6, "µs/lease")
	b.ReportMetric(h.bytesEach, "bytes/lease")
	b.ReportMetric(float64(runtime.NumGoroutine()-h.before.goroutines), "goroutines")
}

// holding is a client that holds many leases.
type holding struct {
	driver    *counting
	leases    []*holdfast.Lease
	since     time.Time // when it had the last of them
	took      time.Duration
	before    usage // before there was a client
	bytesEach float64
}

func hold(t testing.TB, n int) *holding {
	addr := servers.Redis(t).Addr
	h := &holding{leases: make([]*holdfast.Lease, n), before: measure()}
	client := h.open(t, "redis://"+addr)
	start := time.Now()
	if err := h.acquire(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	h.since, h.took = time.Now(), time.Since(start)
	h.bytesEach = float64(measure().bytes-h.before.bytes) / float64(n)
	return h
}

func (h *holding) open(t testing.TB, url string) *holdfast.Client {
	d, err := driver.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	h.driver = &counting{Driver: d}
	client := holdfast.New(h.driver, holdfast.WithTTL(ttl))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := client.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		_ = d.Close()
	})
	return client
}

// acquire takes every lease, with as many at once as fill the pipeline.
func (h *holding) acquire(ctx context.Context, client *holdfast.Client) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(128)
	for i := range h.leases {
		group.Go(func() (err error) {
			h.leases[i], err = client.Mutex("lease-" + strconv.Itoa(i)).Lock(ctx)
			return err
		})
	}
	return group.Wait()
}

// allHeld asks every lease, and the server about some.
func (h *holding) allHeld(t *testing.T) {
	lost := 0
	for i, l := range h.leases {
		err := l.Err()
		if err == nil && i%100 == 0 {
			err = l.Check(t.Context())
		}
		if err != nil {
			if lost++; lost <= 10 {
				t.Logf("%s: %v", l.Name(), err)
			}
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d leases were lost", lost, len(h.leases))
	}
}

// usage is what this process needs.
type usage struct {
	bytes      int64 // live in the heap, and stacks
	goroutines int
}

func measure() usage {
	runtime.GC()
	runtime.GC() // what the first freed is swept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{bytes: int64(m.HeapAlloc + m.StackInuse), goroutines: runtime.NumGoroutine()}
}
