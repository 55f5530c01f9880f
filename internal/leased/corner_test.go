package leased_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/leased"
)

// These are what TestSeeds has found, step by step.

// A corner is two clients of a store.
type corner struct {
	*testing.T
	w      *world
	stores [2]*memStore
	d      [2]*leased.Engine
}

func inCorner(t *testing.T, test func(c *corner)) {
	inCornerOf(t, likeEtcd, test)
}

func inCornerOf(t *testing.T, k kind, test func(c *corner)) {
	effort.Raced(t)
	synctest.Test(t, func(t *testing.T) {
		c := &corner{T: t, w: newWorld(k, faults{}, rand.New(rand.NewPCG(1, 1)))}
		for i := range c.d {
			c.stores[i] = c.w.client()
			c.d[i] = leased.New(c.stores[i])
			defer c.d[i].Close()
		}
		test(c)
		for _, what := range c.w.broken {
			t.Error(what)
		}
	})
}

func mutex(id string) driver.Claim {
	return driver.Claim{Name: "m", ID: id, Weight: 1, Limit: 1, TTL: 10 * time.Second, Queue: true}
}

// ask does one operation at a client.
func (c *corner) ask(client int, kind driver.Kind, claim driver.Claim) (r driver.Result) {
	op := driver.Op{Kind: kind, Claim: claim}
	c.d[client].Do(context.Background(), []driver.Op{op}, func(_ int, got driver.Result) { r = got })
	return r
}

// holds requests a claim, which must be granted, and returns it with its token.
func (c *corner) holds(client int, claim driver.Claim) driver.Claim {
	c.Helper()
	r := c.ask(client, driver.OpRequest, claim)
	if r.Err != nil || !r.Status.Granted {
		c.Fatalf("client %d has not got %s: %+v", client, claim.ID, r)
	}
	claim.Token = r.Status.Token
	return claim
}

// queued returns the IDs of the claims on the lock.
func (c *corner) queued() (ids []string) {
	for _, e := range c.ask(0, driver.OpQueue, mutex("")).Queue {
		ids = append(ids, e.ID)
	}
	return ids
}

// suffers gives all steps of an act at a client a fate, until the next call.
func (c *corner) suffers(client int, act leased.Act, f fate) {
	c.stores[client].suffer(func(s leased.Step) fate {
		if s.Act == act {
			return f
		}
		return answered
	})
}

// A client that becomes the keeper of a claim by a renewal which was not answered keeps it for as long as that asked
// for. It must not go by what it was answered before: another client's answer has promised more.
func TestMoveThatWasNotAnswered(t *testing.T) {
	inCorner(t, func(c *corner) {
		claim := c.holds(0, mutex("a"))
		claim.Detached = true
		time.Sleep(5 * time.Second)
		c.holds(1, claim)
		time.Sleep(4 * time.Second)
		c.suffers(0, leased.Rewrite, unheard)
		if r := c.ask(0, driver.OpRequest, claim); driver.IsAnswer(r.Err) {
			t.Fatalf("got %+v", r)
		}
		time.Sleep(5 * time.Second) // less than a TTL after client 1 was answered
		if ids := c.queued(); len(ids) != 1 {
			t.Errorf("the queue is %v", ids)
		}
	})
}

// The place of a claim that another client has taken over is not given to the next.
func TestPlaceOfWhatWasTakenOver(t *testing.T) {
	inCorner(t, func(c *corner) {
		claim := c.holds(0, mutex("a"))
		claim.Detached, claim.TTL = true, time.Minute
		c.holds(1, claim)
		time.Sleep(11 * time.Second) // client 0 gives it up
		c.ask(0, driver.OpRequest, mutex("b"))
		if ids := c.queued(); len(ids) != 2 {
			t.Errorf("the queue is %v", ids)
		}
	})
}

// A claim that would not wait, and was left out by a step that may come late, is not granted by a later request: that
// step would take it away from its holder.
func TestLeftOutForGood(t *testing.T) {
	inCorner(t, func(c *corner) {
		holder, tries := c.holds(0, mutex("a")), mutex("b")
		tries.Queue = false
		c.suffers(1, leased.Enter, lost)
		c.ask(1, driver.OpRequest, tries)
		c.suffers(1, leased.Leave, lost)
		if r := c.ask(1, driver.OpRequest, tries); driver.IsAnswer(r.Err) {
			t.Fatalf("got %+v", r)
		}
		c.ask(0, driver.OpRelease, holder)
		for range 2 {
			if r := c.ask(1, driver.OpRequest, tries); r.Status.Granted {
				t.Fatalf("got %+v, while a step that leaves the claim out may still come", r)
			}
			c.stores[1].suffer(nil)
		}
	})
}

// While a client still takes its claim out of where it was, it finds the claim where another client keeps it.
func TestLeavingHereAndLivingThere(t *testing.T) {
	inCorner(t, func(c *corner) {
		claim := c.holds(0, mutex("a"))
		claim.Detached, claim.TTL = true, time.Minute
		c.holds(1, claim)
		c.suffers(0, leased.Leave, lost)
		time.Sleep(11 * time.Second)
		c.holds(0, claim)
	})
}

// A session that ends while a claim may have been moved to it takes nothing with it that was never moved.
func TestLostWhereItNeverWas(t *testing.T) {
	inCorner(t, func(c *corner) {
		claim := c.holds(0, mutex("a"))
		claim.Detached = true
		c.suffers(1, leased.Rewrite, lost)
		c.ask(1, driver.OpRequest, claim)
		for _, s := range c.stores[1].sessions {
			c.w.endSession(s.id)
		}
		c.stores[1].suffer(nil)
		c.holds(1, claim)
	})
}

// A claim whose move was not answered is taken out in whichever session it is.
func TestRemovedWhereverItIs(t *testing.T) {
	inCorner(t, func(c *corner) {
		other := driver.Claim{Name: "other", ID: "o", Weight: 1, Limit: 1, TTL: 20 * time.Second, Queue: true}
		other = c.holds(0, other) // it has its session kept
		claim := c.holds(0, mutex("a"))
		claim.TTL = other.TTL
		c.suffers(0, leased.Rewrite, unheard)
		if r := c.ask(0, driver.OpRequest, claim); driver.IsAnswer(r.Err) {
			t.Fatalf("got %+v", r)
		}
		for range 5 {
			time.Sleep(5 * time.Second)
			c.holds(0, other)
		}
		if ids := c.queued(); len(ids) != 0 {
			t.Errorf("the queue is %v", ids)
		}
	})
}

// A request that was sent before its claim was left alone does not make it live longer.
func TestOlderRequestExtendsNothing(t *testing.T) {
	inCorner(t, func(c *corner) {
		claim := c.holds(1, mutex("a"))
		alone := claim
		alone.Detached = true
		c.holds(1, alone)
		time.Sleep(8 * time.Second)
		c.holds(1, claim)
		c.d[1].Close()
		time.Sleep(4 * time.Second)
		if ids := c.queued(); len(ids) != 0 {
			t.Errorf("the queue is %v", ids)
		}
	})
}

// A session that has ended unnoticed costs a first request nothing.
func TestFirstRequestInALostSession(t *testing.T) {
	inCorner(t, func(c *corner) {
		c.ask(0, driver.OpRelease, c.holds(0, mutex("a")))
		c.w.endSession(c.stores[0].sessions[0].id)
		c.holds(0, mutex("b"))
	})
}

// A claim that shares a lock says that it is granted where another one waits for that.
func TestMarksWhereOthersWait(t *testing.T) {
	inCorner(t, func(c *corner) {
		permit := func(id string) driver.Claim {
			claim := mutex(id)
			claim.Limit = 2
			return claim
		}
		first := c.holds(0, permit("a"))
		c.holds(0, permit("b"))
		for _, id := range []string{"c", "d"} {
			c.ask(0, driver.OpRequest, permit(id))
		}
		c.ask(0, driver.OpRelease, first)
		c.holds(0, permit("c"))
		synctest.Wait()
		if marked := c.w.queues["m"][1]; marked.ID != "c" || marked.Fits == nil {
			t.Errorf("the second in the queue is %+v", marked)
		}
	})
}

// Nothing is told of a claim once it is being released.
func TestReleaseEndsFollowing(t *testing.T) {
	inCorner(t, func(c *corner) {
		var told []driver.Event
		c.d[0].Subscribe(func(e driver.Event) { told = append(told, e) })
		op := driver.Op{Kind: driver.OpRequest, Claim: mutex("a"), Follow: true}
		c.d[0].Do(context.Background(), []driver.Op{op}, func(int, driver.Result) {})
		synctest.Wait()
		told = nil
		c.w.faults.latency = time.Second // the event is there before the answer
		c.ask(0, driver.OpRelease, op.Claim)
		synctest.Wait()
		if len(told) > 0 {
			t.Errorf("told %+v", told)
		}
	})
}

// An event that is told before the answer which it is news to is not missed.
func TestEventBeforeTheAnswer(t *testing.T) {
	inCornerOf(t, likeZooKeeper, func(c *corner) {
		reader := func(id string) driver.Claim {
			claim := mutex(id)
			claim.Limit = driver.All
			return claim
		}
		told := make(map[string]int)
		c.d[0].Subscribe(func(e driver.Event) { told[e.ID]++ })
		writer := c.holds(1, mutex("a"))
		c.ask(0, driver.OpRequest, reader("b")) // which has the writer watched
		synctest.Wait()
		between := func() {
			c.ask(1, driver.OpRelease, writer)
			synctest.Wait()
		}
		c.stores[0].mu.Lock()
		c.stores[0].between = between
		c.stores[0].mu.Unlock()
		if r := c.ask(0, driver.OpRequest, reader("c")); r.Status.Granted {
			t.Fatalf("got %+v", r)
		}
		synctest.Wait()
		if told["b"] == 0 || told["c"] == 0 {
			t.Errorf("told %v", told)
		}
	})
}

// A panic of the store goes up to the caller of the batch, and nothing of the batch stays behind.
func TestPanicOfTheStore(t *testing.T) {
	inCorner(t, func(c *corner) {
		c.holds(0, mutex("a")) // its session is there
		batch := []driver.Op{
			{Kind: driver.OpRequest, Claim: mutex("b")},
			{Kind: driver.OpRequest, Claim: mutex("c")},
			{Kind: driver.OpRequest, Claim: mutex("a")},
		}
		c.stores[0].suffer(func(leased.Step) fate { panic("the store is broken") })
		defer func() {
			c.stores[0].suffer(nil)
			if p := recover(); p == nil {
				t.Error("the caller was told nothing")
			}
		}()
		c.d[0].Do(context.Background(), batch, func(_ int, r driver.Result) {
			if r.Err == nil {
				t.Errorf("got %+v", r)
			}
		})
	})
}
