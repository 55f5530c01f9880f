package servertables

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// nowhere is a database that nobody can connect to.
type nowhere struct {
	takes   time.Duration // to find that out
	tried   atomic.Int32
	givenUp atomic.Int32 // before it was found out
}

func (n *nowhere) Connect(ctx context.Context) (sqldriver.Conn, error) {
	n.tried.Add(1)
	if driver.Sleep(ctx, n.takes) != nil {
		n.givenUp.Add(1)
	}
	return nil, errors.New("nobody is there")
}
func (*nowhere) Driver() sqldriver.Driver { return nil }

// lanes makes a pool with lanes whose connections are not open.
func lanes(t *testing.T, n int) *pool {
	t.Helper()
	return lanesTo(t, &nowhere{}, n)
}

func lanesTo(t *testing.T, server *nowhere, n int) *pool {
	t.Helper()
	db := sql.OpenDB(server)
	t.Cleanup(func() { db.Close() })
	p := newPool(&endpoint{db: db, dialect: Postgres}, n)
	p.must, p.stay = true, n
	for range n {
		p.endpoint.take(true)
		p.add(nil)
	}
	return p
}

// got returns the lane of work that need not wait.
func got(t *testing.T, p *pool, at affinity) (*lane, *binding) {
	t.Helper()
	l, v, err := p.ask(at)
	if err != nil || l == nil {
		t.Fatalf("it waits: %v", err)
	}
	return l, v.binding
}

// standsInLine expects that work has to wait.
func standsInLine(t *testing.T, p *pool, at affinity) *task {
	t.Helper()
	l, v, err := p.ask(at)
	if err != nil || l != nil {
		t.Fatalf("it need not wait: %v", err)
	}
	return v
}

// hasTurn expects that a task was let into a lane, and no other one.
func hasTurn(t *testing.T, v *task, l *lane) {
	t.Helper()
	select {
	case in := <-v.ready:
		if in != l {
			t.Error("it was let into another lane")
		}
	default:
		t.Error("it still waits")
	}
}

// done ends a turn. A lane without a connection would be closed, as one that broke.
func done(p *pool, l *lane, h *binding) {
	l.conn = &conn{}
	p.leave(l, h)
}

func TestOneLockKeepsToItsLane(t *testing.T) {
	p := lanes(t, 2)
	first, a := got(t, p, affinity{name: "a"})
	second, third := standsInLine(t, p, affinity{name: "a"}), standsInLine(t, p, affinity{name: "a"})
	other, b := got(t, p, affinity{name: "b"})
	if other == first {
		t.Error("two have one lane")
	}
	done(p, other, b)
	if len(second.ready) > 0 {
		t.Error("two are at work on one lock")
	}
	done(p, first, a)
	hasTurn(t, second, first)
	if len(third.ready) > 0 {
		t.Error("two are at work on one lock")
	}
	done(p, first, a)
	hasTurn(t, third, first)
	done(p, first, a)
	if len(p.bindings) > 0 {
		t.Errorf("locks that nobody uses are known: %v", p.bindings)
	}
}

// Who has waited longest is next, also where it was found late that another lane is theirs.
func TestOldestFirst(t *testing.T) {
	p := lanes(t, 2)
	first, x := got(t, p, affinity{name: "x"})
	second, y := got(t, p, affinity{name: "y"})
	one, two := standsInLine(t, p, affinity{name: "a"}), standsInLine(t, p, affinity{name: "a"})
	other := standsInLine(t, p, affinity{name: "b"})
	done(p, first, x)
	hasTurn(t, one, first)
	three := standsInLine(t, p, affinity{name: "a"})
	done(p, second, y)
	hasTurn(t, other, second)
	done(p, first, one.binding)
	hasTurn(t, two, first)
	done(p, first, two.binding)
	hasTurn(t, three, first)
}

func TestWakeLocksKeepALockToTheirLane(t *testing.T) {
	p := lanes(t, 2)
	p.lanes[1].wakeLocks.put("id", wakeLock{name: "a"})
	l, h := got(t, p, affinity{name: "a"})
	if l != p.lanes[1] {
		t.Error("a lock is asked for where it has no wake locks")
	}
	standsInLine(t, p, affinity{name: "a"})
	done(p, l, h)
	l.wakeLocks.released("id")
	if p.laneOf("a") != nil {
		t.Error("a lock without wakeLocks has a lane")
	}
}

// Work that nobody waits for any more may be blocked for good: what stands behind it goes elsewhere.
func TestStuckLaneKeepsNobodyWaiting(t *testing.T) {
	p := lanes(t, 2)
	blocked, _ := got(t, p, affinity{name: "a"})
	blocked.wakeLocks.put("id", wakeLock{name: "b"})
	later := standsInLine(t, p, affinity{name: "b"})
	p.giveAway(blocked, blocked.turns)
	hasTurn(t, later, p.lanes[1])
	standsInLine(t, p, affinity{name: "c"})
	if !p.opening {
		t.Error("no lane is opened in place of the one that is blocked")
	}
	p.giveAway(p.lanes[1], p.lanes[1].turns-1)
	if p.lanes[1].given {
		t.Error("who is late gives away the turn of another")
	}
}

func TestWhoGivesUpLeavesNothing(t *testing.T) {
	p := lanes(t, 1)
	l, h := got(t, p, affinity{name: "a"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"a", "b"} {
		if _, _, err := p.enter(ctx, affinity{name: name}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want the context's error", err)
		}
	}
	nothing := func(context.Context, *lane) (int, error) { return 0, nil }
	if _, err := run(ctx, p, affinity{name: "a"}, nothing); !errors.Is(err, driver.ErrUnsent) {
		t.Errorf("%v, want ErrUnsent", err)
	}
	if len(p.line) > 0 || len(l.line) > 0 || h.tasks != 1 {
		t.Errorf("%d and %d wait, %d task", len(p.line), len(l.line), h.tasks)
	}
}

// However many come and go, a lane has one of them at a time, and a lock, too; and all get their turn.
func TestCrowdInLanes(t *testing.T) {
	p := lanes(t, 3)
	var inside [3]atomic.Int32
	var locks [5]atomic.Int32
	at := make(map[*lane]*atomic.Int32)
	for i, l := range p.lanes {
		l.conn = &conn{}
		at[l] = &inside[i]
	}
	var crowd sync.WaitGroup
	for range 20 {
		crowd.Go(func() {
			for range 500 {
				n := rand.N(len(locks))
				ctx, cancel := context.WithCancel(t.Context())
				if rand.N(4) == 0 {
					go cancel()
				}
				l, h, err := p.enter(ctx, affinity{name: fmt.Sprint(n)})
				if err == nil {
					if at[l].Add(1) > 1 || locks[n].Add(1) > 1 {
						t.Error("two at once")
					}
					locks[n].Add(-1)
					at[l].Add(-1)
					p.leave(l, h)
				}
				cancel()
			}
		})
	}
	crowd.Wait()
	if len(p.bindings) > 0 || len(p.line) > 0 {
		t.Errorf("left: %v, %v", p.bindings, p.line)
	}
}

// Of several who ask for a lock and wait for any lane, the first one decides which lane it is. If that lane breaks, or
// nobody waits any more for what is done there, the others have any other one.
func TestBrokenLaneKeepsNobodyWaiting(t *testing.T) {
	for name, lost := range map[string]func(*pool, *lane, *binding){
		"broken": func(p *pool, l *lane, h *binding) {
			l.conn = nil
			p.leave(l, h)
		},
		"given away": func(p *pool, l *lane, _ *binding) { p.giveAway(l, l.turns) },
	} {
		t.Run(name, func(t *testing.T) {
			p := lanes(t, 2)
			first, x := got(t, p, affinity{name: "x"})
			second, y := got(t, p, affinity{name: "y"})
			one, two := standsInLine(t, p, affinity{name: "a"}), standsInLine(t, p, affinity{name: "a"})
			done(p, first, x)
			hasTurn(t, one, first)
			lost(p, first, one.binding)
			done(p, second, y)
			hasTurn(t, two, second)
		})
	}
}

// Whatever ends a request that was sent: nobody takes that for an answer, nor for its not having been sent.
func TestCauseIsNoAnswer(t *testing.T) {
	p := lanes(t, 1)
	p.lanes[0].conn = &conn{}
	for _, cause := range []error{driver.ErrGone, driver.ErrRefused, driver.ErrUnsent} {
		ctx, cancel := context.WithCancelCause(t.Context())
		sent, goOn, answered := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			answered <- inTurn(ctx, p, affinity{}, func(context.Context, *lane) error {
				close(sent)
				<-goOn
				return nil
			})
		}()
		<-sent
		cancel(cause)
		if err := <-answered; driver.IsAnswer(err) || errors.Is(err, driver.ErrUnsent) {
			t.Errorf("ended by %q, a request fails with %q, which says that it has done nothing", cause, err)
		}
		close(goOn)
	}
}

// A connection that could not be opened does not count as one of those that a client may have.
func TestFailedConnectionIsGivenBack(t *testing.T) {
	p := lanes(t, 1)
	p.most = 2
	got(t, p, affinity{name: "a"})
	standsInLine(t, p, affinity{name: "b"})
	p.ended.Done() // of the lane that has its turn
	p.ended.Wait()
	if p.endpoint.taken != 1 {
		t.Errorf("%d connections count, want the one of the lane", p.endpoint.taken)
	}
}

// Where another pool will do, a server that takes no more connections is left alone for a while.
func TestFailedConnectionIsNotTriedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &nowhere{}
		db := sql.OpenDB(server)
		defer db.Close()
		p := newPool(&endpoint{db: db, dialect: Postgres}, 1)
		for _, tries := range []int32{1, 1, 2} {
			if _, err := p.connectFor(t.Context()); !errors.Is(err, errNoSpare) {
				t.Errorf("%v, want that there is no connection to spare", err)
			}
			if n := server.tried.Load(); n != tries {
				t.Errorf("%d connections were tried, want %d", n, tries)
			}
			time.Sleep(pauseAfterFailure * 2 / 3)
		}
	})
}

// A server so far away that a connection takes seconds to open has several lanes, too: nobody waits for that alone.
func TestLaneToAFarServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &nowhere{takes: 4 * time.Second}
		p := lanesTo(t, server, 1)
		p.most, p.stay = 2, 0
		l, h := got(t, p, affinity{name: "a"})
		next := standsInLine(t, p, affinity{name: "b"})
		done(p, l, h)
		hasTurn(t, next, l)
		done(p, l, next.binding)
		time.Sleep(idleTime + time.Second)
		l, h = got(t, p, affinity{name: "c"}) // also while it is being opened
		p.leave(l, h)
		p.ended.Wait()
		if tried, givenUp := server.tried.Load(), server.givenUp.Load(); tried != 1 || givenUp != 0 {
			t.Errorf("of %d connections %d were given up, want one that is not", tried, givenUp)
		}
	})
}
