package proof

import (
	"cmp"
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
	case v.Passed != nil:
		v.goOn(v.Passed.Visit)
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
	stop := sync.OnceFunc(v.watchStalls())
	defer stop()
	if !v.open() {
		return
	}
	for i := v.Next; now() < v.Until; i++ {
		v.tell(told{Begun: i + 1})
		s := v.Steps[i%len(v.Steps)]
		for n := 0; n < max(1, s.Times) && now() < v.Until; n++ {
			v.step(s)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), v.TTL)
	defer cancel()
	_ = v.client.Close(ctx) // a store that does not answer is not this visitor's fault
	stop()
	v.tell(told{End: v.end()})
}

// watchStalls tells of stalls of this process, until stop.
func (v *visitor) watchStalls() (stop func()) {
	watched, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { watchStalls(watched, func(s Span) { v.tell(told{Stalled: &Stall{v.Visitor, s}}) }) })
	return func() {
		cancel()
		watching.Wait()
	}
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

// newVisit is the visit of a step to one of its locks, before it begins.
func (v *visitor) newVisit(s Step, lock string) *Visit {
	visit := &Visit{Lock: lock, Together: s.Verb == All, Least: s.Least, Most: s.Most}
	visit.Visitor, visit.Units, visit.Try, visit.TTL = v.Visitor, s.Units, s.Verb == Try, cmp.Or(s.TTL, v.TTL)
	return visit
}

// visit is one attempt to get in, with what follows when it succeeds.
func (v *visitor) visit(s Step) {
	var visits []*Visit
	for _, lock := range s.locks() {
		visits = append(visits, v.newVisit(s, lock))
	}
	waiting, cancel := context.WithTimeout(context.Background(), max(s.Within, v.TTL/4))
	defer cancel()
	asks := now()
	for _, visit := range visits {
		visit.Call = asks
	}
	v.tell(told{Asks: visits})
	leases, err := v.acquire(waiting, s)
	answered := now()
	for i, visit := range visits {
		visit.Return, visit.Outcome = answered, outcome(err, waiting)
		if visit.Together && visit.Outcome == history.Taken {
			visit.Outcome = history.GaveUp // it may have had this lock until it was refused another
		}
		if err == nil {
			visit.Token = leases[i].Token()
		} else if errors.Is(err, holdfast.ErrDeadlock) {
			visit.Odd = err.Error()
		}
	}
	if err == nil {
		v.tell(told{Inside: visits})
		if over := v.section(leases, visits, s); over {
			return
		}
		v.leave(leases, visits)
	}
	v.tell(told{Out: visits})
}

// options are those of a step's lock.
func (s Step) options() (options []holdfast.Option) {
	if s.TTL > 0 {
		options = append(options, holdfast.WithTTL(s.TTL))
	}
	if s.Least > 0 {
		options = append(options, holdfast.WithMinHold(s.Least))
	}
	if s.Most > 0 {
		options = append(options, holdfast.WithMaxHold(s.Most))
	}
	if s.Again {
		options = append(options, holdfast.WithReentrant())
	}
	return options
}

// acquire asks for the locks of a step.
func (v *visitor) acquire(ctx context.Context, s Step) (holdfast.Leases, error) {
	if s.Verb == All {
		var locks []holdfast.Locker
		for _, lock := range s.locks() {
			locks = append(locks, v.client.Mutex(lock, s.options()...))
		}
		return holdfast.LockAll(ctx, locks...)
	}
	lease, err := acquire(ctx, v.client, s)
	return holdfast.Leases{lease}, err
}

// acquire asks for the units of a step in the way of the lock's kind.
func acquire(ctx context.Context, client *holdfast.Client, s Step) (*holdfast.Lease, error) {
	try, all := s.Verb == Try, s.Units == limit(s.Lock)
	switch {
	case s.Verb == Lead:
		return client.Election(s.Lock, s.options()...).Campaign(ctx, "a visitor")
	case s.Lock[0] == 'm':
		m := client.Mutex(s.Lock, s.options()...)
		return either(try, m.TryLock, m.Lock)(ctx)
	case s.Lock[0] == 'r':
		rw := client.RWMutex(s.Lock, s.options()...)
		if all {
			return either(try, rw.TryLock, rw.Lock)(ctx)
		}
		return either(try, rw.TryRLock, rw.RLock)(ctx)
	default:
		p := client.Semaphore(s.Lock, limit(s.Lock), s.options()...)
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

// section is what is done under the locks: it counts one on behind each, if nobody else can be inside, and looks at the
// leases all the time. over says that another process has gone on, and told the end of the visit.
func (v *visitor) section(leases holdfast.Leases, visits []*Visit, s Step) (over bool) {
	numbers := make([]Touch, len(visits))
	for i, visit := range visits {
		if visit.alone() {
			numbers[i] = v.touch(Touch{Visitor: v.Visitor, Lock: visit.Lock, Token: visit.Token})
		}
	}
	if s.Again {
		v.again(leases[0], visits[0], s)
	}
	if s.Pass {
		if !v.stay(leases, visits, s.Stays/2) {
			return false
		}
		s.Stays /= 2
		if v.passOn(leases[0], visits[0], s) {
			return true
		}
	}
	if !v.stay(leases, visits, s.Stays) {
		return false
	}
	for i, visit := range visits {
		if number := numbers[i]; visit.alone() && !number.Refused {
			number.Write = true
			number.Value++
			v.touch(number)
		}
	}
	return false
}

// alone reports whether nobody else can be inside with the visitor.
func (v *Visit) alone() bool { return v.Units == limit(v.Lock) }

// again acquires the lock that the visitor holds once more, and releases that.
func (v *visitor) again(lease *holdfast.Lease, visit *Visit, s Step) {
	ctx, cancel := context.WithTimeout(lease.Context(), v.TTL)
	defer cancel()
	inner, err := acquire(ctx, v.client, s)
	switch {
	case err == nil && inner.Token() != visit.Token:
		visit.Odd = fmt.Sprintf("acquired again it has token %d", inner.Token())
	case err == nil:
		err = inner.Release(ctx)
	}
	if err != nil && lease.Err() == nil {
		visit.Odd = fmt.Sprintf("acquired again, and released: %v", err)
	}
}

// stay reports whether the leases lived until the end.
func (v *visitor) stay(leases holdfast.Leases, visits []*Visit, stays time.Duration) bool {
	last := now()
	said := last
	for until := last + stays; ; {
		looked := now()
		if leases.Err() != nil && !v.Careless {
			return false
		}
		for _, visit := range visits {
			visit.Seen, visit.Gap = looked, max(visit.Gap, looked-last)
		}
		if last = looked; looked >= until {
			return true
		}
		if looked > said+v.TTL/20 { // so much is forgotten of who is killed
			said = looked
			v.tell(told{Inside: visits})
		}
		select {
		case <-leases[0].Revoked():
			visits[0].Revoked = true
			return true
		case <-time.After(time.Millisecond): // what a section does
		}
	}
}

func (v *visitor) leave(leases holdfast.Leases, visits []*Visit) {
	for i, visit := range visits {
		ctx, cancel := context.WithTimeout(context.Background(), v.TTL/4)
		visit.Leave = now()
		err := leases[i].Release(ctx)
		visit.Left = now()
		cancel()
		visit.Ended = ending(err)
	}
}

// ending says by what its end was answered how a lease ended.
func ending(err error) history.Ending {
	switch {
	case err == nil:
		return history.Released
	case errors.Is(err, holdfast.ErrLost):
		return history.Lost
	default:
		return history.Unclear
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
