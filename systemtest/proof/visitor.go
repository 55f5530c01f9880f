package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/systemtest/history"
)

// orderVariable holds a visitor's order.
const orderVariable = "HOLDFAST_PROOF_VISITOR"

// Visitor makes the process a visitor, if it was started as one, and reports whether it was. For TestMain.
func Visitor() bool {
	text := os.Getenv(orderVariable)
	if text == "" {
		return false
	}
	v := &visitor{out: json.NewEncoder(os.Stdout)}
	err := json.Unmarshal([]byte(text), &v.order)
	if err == nil {
		err = v.connect()
	}
	switch {
	case err != nil:
	case v.Section != nil:
		err = v.child(*v.Section)
	default:
		v.live()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// A visitor is a process that follows its order.
type visitor struct {
	order
	mu       sync.Mutex // of out
	out      *json.Encoder
	client   *holdfast.Client
	ask      *json.Encoder // of the resources
	answered *json.Decoder
}

// connect connects to the resources.
func (v *visitor) connect() error {
	conn, err := net.Dial("unix", v.Resource) // until the process ends
	if err == nil {
		v.ask, v.answered = json.NewEncoder(conn), json.NewDecoder(conn)
	}
	return err
}

// live goes through the steps again and again.
func (v *visitor) live() {
	watched, stop := context.WithCancel(context.Background())
	defer stop()
	var watching sync.WaitGroup
	watching.Go(func() { watchStalls(watched, func(s Span) { v.tell(told{Stalled: &Stall{v.Visitor, s}}) }) })
	if !v.open() {
		return
	}
	for i := v.Next; now() < v.Until; i++ {
		v.step(v.Steps[i%len(v.Steps)])
	}
	ctx, cancel := context.WithTimeout(context.Background(), v.TTL)
	defer cancel()
	_ = v.client.Close(ctx) // a store that does not answer is not this visitor's fault
	stop()
	watching.Wait()
	v.tell(told{End: v.end()})
}

// tell prints what the visitor has to tell. Nobody listens any more when the run is over.
func (v *visitor) tell(t told) {
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = v.out.Encode(t)
}

// open opens the client, as soon as the store lets it. ok is false if it never did.
func (v *visitor) open() (ok bool) {
	for now() < v.Until {
		ctx, cancel := context.WithTimeout(context.Background(), v.TTL)
		c, err := holdfast.Open(ctx, v.URL, holdfast.WithTTL(v.TTL))
		cancel()
		if err == nil {
			v.client = c
			return true
		}
		time.Sleep(v.TTL / 50) // nobody tells when the store is back
	}
	return false
}

func (v *visitor) step(s Step) {
	switch s.Verb {
	case Break:
		v.breakFirst(s)
	case Revoke:
		v.revoke(s)
	case Command:
		v.command(s)
	default:
		v.visit(s)
	}
}

// breakFirst breaks the first claim in the queue, if there is one.
func (v *visitor) breakFirst(s Step) {
	ctx, cancel := context.WithTimeout(context.Background(), v.TTL)
	defer cancel()
	b := Breaking{Lock: s.Lock, Call: now()}
	queue, err := v.client.Queue(ctx, s.Lock)
	if err != nil || len(queue) == 0 {
		return
	}
	b.Token = queue[0].Token
	_ = v.client.Break(ctx, s.Lock, queue[0].ID) // whoever it was may be gone
	b.Return = now()
	v.tell(told{Broke: &b})
}

func (v *visitor) revoke(s Step) {
	ctx, cancel := context.WithTimeout(context.Background(), v.TTL)
	defer cancel()
	r := Breaking{Lock: s.Lock, Call: now()}
	_ = v.client.Revoke(ctx, s.Lock) // not every store can
	r.Return = now()
	v.tell(told{Revoked: &r})
}

// newVisit is the visit of a step, before it begins.
func (v *visitor) newVisit(s Step) Visit {
	visit := Visit{Lock: s.Lock}
	visit.Visitor, visit.Units, visit.Try, visit.TTL = v.Visitor, s.Units, s.Verb == Try, v.TTL
	return visit
}

// visit is one attempt to get in, with what follows when it succeeds.
func (v *visitor) visit(s Step) {
	visit := v.newVisit(s)
	waiting, cancel := context.WithTimeout(context.Background(), max(s.Within, v.TTL/4))
	defer cancel()
	visit.Call = now()
	v.tell(told{Asks: &visit})
	lease, err := acquire(waiting, v.client, s)
	visit.Return = now()
	if visit.Outcome = outcome(err, waiting); err == nil {
		visit.Token = lease.Token()
		v.tell(told{Inside: &visit})
		v.section(lease, &visit, s)
		v.leave(lease, &visit)
	}
	v.tell(told{Out: &visit})
}

// acquire asks for the units of a step in the way of the lock's kind.
func acquire(ctx context.Context, client *holdfast.Client, s Step) (*holdfast.Lease, error) {
	try, all := s.Verb == Try, s.Units == limit(s.Lock)
	switch s.Lock[0] {
	case 'm':
		m := client.Mutex(s.Lock)
		return either(try, m.TryLock, m.Lock)(ctx)
	case 'r':
		rw := client.RWMutex(s.Lock)
		if all {
			return either(try, rw.TryLock, rw.Lock)(ctx)
		}
		return either(try, rw.TryRLock, rw.RLock)(ctx)
	default:
		p := client.Semaphore(s.Lock, limit(s.Lock))
		return either(try, p.TryAcquire, p.Acquire)(ctx, s.Units)
	}
}

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

func outcome(err error, waiting context.Context) history.Outcome {
	switch {
	case err == nil:
		return history.Got
	case !errors.Is(err, holdfast.ErrNotAcquired):
		return history.Unknown
	case waiting.Err() != nil:
		return history.GaveUp
	default:
		return history.Taken
	}
}

// section is what is done under the lock: it counts one on, if nobody else can be inside, and looks at the lease all
// the time.
func (v *visitor) section(lease *holdfast.Lease, visit *Visit, s Step) {
	var number Touch
	alone := s.Units == limit(s.Lock)
	if alone {
		number = v.touch(Touch{Visitor: v.Visitor, Lock: s.Lock, Token: lease.Token()})
	}
	if v.stay(lease, visit, s.Stays) && alone && !number.Refused {
		number.Write = true
		number.Value++
		v.touch(number)
	}
}

// stay reports whether the lease lived until the end.
func (v *visitor) stay(lease *holdfast.Lease, visit *Visit, stays time.Duration) bool {
	last := now()
	said := last
	for until := last + stays; ; {
		looked := now()
		if lease.Err() != nil && !v.Careless {
			return false
		}
		visit.Seen, visit.Gap, last = looked, max(visit.Gap, looked-last), looked
		if looked >= until {
			return true
		}
		if looked > said+v.TTL/20 { // so much is forgotten of who is killed
			said = looked
			v.tell(told{Inside: visit})
		}
		select {
		case <-lease.Revoked():
			visit.Revoked = true
			return true
		case <-time.After(time.Millisecond): // what a section does
		}
	}
}

func (v *visitor) leave(lease *holdfast.Lease, visit *Visit) {
	ctx, cancel := context.WithTimeout(context.Background(), v.TTL/4)
	defer cancel()
	visit.Leave = now()
	err := lease.Release(ctx)
	visit.Left = now()
	switch {
	case err == nil:
		visit.Ended = history.Released
	case errors.Is(err, holdfast.ErrLost):
		visit.Ended = history.Lost
	default:
		visit.Ended = history.Unclear
	}
}

// touch asks the resource behind a lock. One that is gone ends the process: the run is over.
func (v *visitor) touch(t Touch) (answer Touch) {
	err := v.ask.Encode(t)
	if err == nil {
		err = v.answered.Decode(&answer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "resource:", err)
		os.Exit(1)
	}
	return answer
}

func (v *visitor) end() *End {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	fds, _ := os.ReadDir("/proc/self/fd") // none where there is no such folder
	return &End{
		Visitor: v.Visitor, At: now(), Goroutines: runtime.NumGoroutine(), Heap: m.HeapAlloc, Descriptors: len(fds),
	}
}
