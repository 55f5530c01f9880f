package experiment

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
)

// A line is a lock that many wait for, each with a client of its own.
type line struct {
	join    func(s *Trial) func(ctx context.Context) (unlock func(), err error) // a new client, and how it waits
	waiting func() int                                                          // how many wait
	// is called before the lock is given back
	release func()
	events  func() float64 // how many the server has sent so far
}

// herd counts the events that the server sends for one release, with more and more who wait. It fails if that grows
// with their number.
func herd(s *Trial, l line, sizes []int) {
	ctx, cancel := context.WithCancel(s.Context())
	held := make(chan func()) // how to give the lock back
	var clients sync.WaitGroup
	var lost atomic.Pointer[error] // by a client that does not wait any more
	defer func() { cancel(); clients.Wait() }()
	join := func() {
		wait := l.join(s)
		clients.Go(func() {
			unlock, err := wait(ctx)
			if err != nil && ctx.Err() == nil {
				lost.Store(&err)
			}
			if err != nil {
				return
			}
			select {
			case held <- unlock:
			case <-ctx.Done():
				unlock()
			}
		})
	}
	await := func(waiters int) {
		s.mustSoon(func() bool { return lost.Load() != nil || l.waiting() == waiters })
		if err := lost.Load(); err != nil {
			s.Must(*err)
		}
	}
	join()
	unlock, waiters := <-held, 0
	var sent []float64
	for _, size := range sizes {
		for ; waiters < size; waiters++ {
			join()
		}
		await(size)
		before := l.events()
		l.release()
		unlock()
		unlock = <-held
		waiters--
		await(waiters)
		sent = append(sent, l.events()-before)
	}
	unlock()
	reportHerd(s, sizes, sent)
}

func reportHerd(s *Trial, sizes []int, sent []float64) {
	var points []string
	for i, size := range sizes {
		points = append(points, strconv.Itoa(size))
		s.Number(fmt.Sprintf("events for a release, with %d waiting", size), sent[i], "")
	}
	s.Chart(Chart{Title: "Events for one release", X: "clients that wait", Y: "events", Points: points,
		Lines: []Series{{"events", sent}}})
	last := len(sizes) - 1
	s.Result(sent[last] > float64(sizes[last])/2, "with %d waiting, one release sends %.0f events", sizes[last],
		sent[last])
}

// sizes are those of the crowds that wait.
func (s *Trial) sizes() []int {
	if s.Short {
		return []int{1, 10, 40}
	}
	return []int{1, 10, 50, 100, 200, 350, 500}
}

// A watchtower knows which clients watch.
type watchtower struct {
	mu   sync.Mutex
	seen map[int]bool
	next int
}

// client returns what a new client calls when it watches.
func (w *watchtower) client() func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	number := w.next
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen[number] = true
	}
}

// waiting returns how many have watched since the last release.
func (w *watchtower) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen)
}

// release forgets who watches: the lock is given back, and whoever does not get it watches again.
func (w *watchtower) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = make(map[int]bool)
}

// ourLine is Holdfast's lock at a URL.
func ourLine(s *Trial, url string, events func() float64) line {
	witness := s.Client(url)
	return line{
		join: func(s *Trial) func(context.Context) (func(), error) {
			m := s.Client(url, holdfast.WithTTL(30*time.Second)).Mutex("herd")
			return func(ctx context.Context) (func(), error) {
				lease, err := m.Lock(ctx)
				return func() { _ = lease.Release(s.Context()) }, err
			}
		},
		waiting: func() int {
			queue, err := witness.Queue(s.Context(), "herd")
			s.Must(err)
			return len(queue) - 1
		},
		release: func() {},
		events:  events,
	}
}

// sum adds up the numbers that stand behind names which are wanted, one a line.
func sum(metrics string, wanted func(name string) bool) (total float64) {
	for text := range strings.Lines(metrics) {
		fields := strings.Fields(text)
		if len(fields) == 2 && wanted(fields[0]) {
			n, _ := strconv.ParseFloat(fields[1], 64)
			total += n
		}
	}
	return total
}

var herdNumber atomic.Int64

// herdName is a name that no herd has had.
func herdName() string { return fmt.Sprint("lab-herd-", herdNumber.Add(1)) }
