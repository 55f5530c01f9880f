package proof

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
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
	case v.Many != nil:
		v.many(*v.Many)
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
	database *sql.DB       // opened for the first transaction
	ask      *json.Encoder // of the resources
	answered *json.Decoder
	beside   *peer // runs since it was asked first, or since the one before ended
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
	v.endPeer()
	ctx, cancel := context.WithTimeout(context.Background(), v.TTL)
	defer cancel()
	_ = v.client.Close(ctx) // a store that does not answer is not this visitor's fault
	if v.database != nil {
		v.database.Close()
	}
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
	case Transact:
		v.transact(s)
	case Foreign:
		v.foreign(s)
	case Hoard, Queue:
		v.fork(order{Many: &s})
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

// end tells what the process has after its client was closed. What that has ended is gone after a moment.
func (v *visitor) end() *End {
	for until := now() + v.TTL; runtime.NumGoroutine() > most.Goroutines && now() < until; {
		time.Sleep(time.Millisecond)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	fds, _ := os.ReadDir("/proc/self/fd") // none where there is no such folder
	return &End{
		Visitor: v.Visitor, At: now(), Goroutines: runtime.NumGoroutine(), Heap: m.HeapAlloc, Descriptors: len(fds),
	}
}
