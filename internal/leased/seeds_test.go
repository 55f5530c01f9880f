package leased_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/effort"
	"github.com/holdfast-go/holdfast/internal/leased"
)

var (
	oneSeed   = flag.Uint64("seed", 0, "the only seed that TestSeeds tries, with all that happens; 0: many")
	firstSeed = flag.Uint64("first", 1, "the first of many seeds that TestSeeds tries")
)

// Careful callers on some clients share locks over a store that loses steps, answers and sessions, applies steps
// late, and tells of changes late or not at all. What a caller believes to hold never collides with what others do,
// tokens grow from grant to grant, nobody who has left comes back, everybody who waits gets the lock in the end, and
// nothing stays in any queue.
func TestSeeds(t *testing.T) {
	effort.Raced(t)
	if *oneSeed != 0 {
		trySeed(t, *oneSeed)
		return
	}
	for seed := range effort.Pick[uint64](300, 100_000) {
		trySeed(t, *firstSeed+seed)
	}
}

func trySeed(t *testing.T, seed uint64) {
	defer func() {
		if t.Failed() {
			t.Logf("run again with -run TestSeeds -seed %d", seed)
		}
	}()
	synctest.Test(t, func(t *testing.T) { newParty(t, seed).run() })
}

// A party is callers on the clients of a world.
type party struct {
	t       *testing.T
	w       *world
	random  *rand.Rand // of the plan
	clients []*drivertest.Facade
	began   time.Time

	mu     sync.Mutex
	held   []*holding
	killed map[string]bool   // claims that the server has ended before their time, by ID
	tokens map[string]uint64 // the greatest of a grant that excluded all others, by name
	story  []string
}

// A holding is what a caller believes to have.
type holding struct {
	driver.Claim
	until time.Time
}

func newParty(t *testing.T, seed uint64) *party {
	r := rand.New(rand.NewPCG(seed, 44))
	k := []kind{likeEtcd, likeZooKeeper, {moves: true, partial: true, lean: true}, {ordered: true, lean: true}}[seed%4]
	k.room = []int{0, 1, 3}[r.IntN(3)]
	f := faults{
		latency: 20 * time.Millisecond, loseCall: 0.05, loseAnswer: 0.05, late: 0.05, lateBy: time.Second,
		watchDelay: 500 * time.Millisecond, apart: true, gaps: 0.05,
	}
	if r.IntN(3) == 0 {
		f.loseCall, f.loseAnswer, f.late = 0.2, 0.2, 0.2
	}
	p := &party{
		t: t, w: newWorld(k, f, r), random: rand.New(rand.NewPCG(seed, 45)), began: time.Now(),
		tokens: make(map[string]uint64), killed: make(map[string]bool),
	}
	for range 3 {
		p.clients = append(p.clients, drivertest.NewFacade(leased.New(p.w.client())))
	}
	return p
}

func (p *party) run() {
	var all sync.WaitGroup
	for i := range 5 {
		c := &caller{party: p, at: i % 3, random: rand.New(rand.NewPCG(p.random.Uint64(), uint64(i)))}
		all.Go(c.play)
	}
	stop := make(chan struct{})
	var fate sync.WaitGroup
	fate.Go(func() { p.interfere(stop) })
	all.Wait()
	close(stop)
	fate.Wait()
	time.Sleep(2 * longestTTL) // what was given up ends by itself
	p.w.mu.Lock()
	for name, queue := range p.w.queues {
		for _, seat := range queue {
			p.complain("%s of %q stays in the queue", seat.ID, name)
		}
	}
	broken := p.w.broken
	p.w.mu.Unlock()
	for _, what := range broken {
		p.complain("%s", what)
	}
	for _, d := range p.clients {
		d.Close()
	}
	if p.t.Failed() || *oneSeed != 0 {
		p.t.Logf("%+v %+v\n%s", p.w.kind, p.w.faults, strings.Join(p.story, "\n"))
	}
}

// interfere has the server end sessions before their time.
func (p *party) interfere(stop <-chan struct{}) {
	r := rand.New(rand.NewPCG(p.random.Uint64(), 46))
	for r.IntN(2) == 0 {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(r.Int64N(int64(20 * time.Second)))):
		}
		p.w.mu.Lock()
		ids := make([]int64, 0, len(p.w.sessions))
		for id := range p.w.sessions {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		var id int64
		if len(ids) > 0 {
			id = ids[r.IntN(len(ids))]
		}
		for _, queue := range p.w.queues {
			for _, seat := range queue {
				if seat.Session == id {
					p.kill(seat.ID) // what its holder believes is wrong, through no fault of the engine
				}
			}
		}
		p.w.mu.Unlock()
		p.tell("the server ends session %d", id)
		p.w.endSession(id)
	}
}

func (p *party) tell(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.story = append(p.story, fmt.Sprintf("%9.3f %s", time.Since(p.began).Seconds(), fmt.Sprintf(format, args...)))
}

func (p *party) complain(format string, args ...any) {
	p.tell("WRONG: "+format, args...)
	p.t.Errorf(format, args...)
}

// hold notes what a caller believes to have, and compares that with what others believe.
func (p *party) hold(c driver.Claim, until time.Time) {
	p.mu.Lock()
	now := time.Now()
	if p.killed[c.ID] {
		until = now // an answer from before is still on its way
	}
	sum, limit := int64(0), int64(driver.All)
	var with []string
	p.held = slices.DeleteFunc(p.held, func(h *holding) bool { return !now.Before(h.until) || h.ID == c.ID })
	p.held = append(p.held, &holding{c, until})
	for _, h := range p.held {
		if h.Name == c.Name {
			sum, limit = sum+h.Weight, min(limit, h.Limit)
			with = append(with, h.ID)
		}
	}
	last := p.tokens[c.Name]
	if c.Weight == c.Limit && c.Limit == driver.All || c.Limit == 1 {
		p.tokens[c.Name] = max(last, c.Token)
	}
	p.mu.Unlock()
	if sum > limit && now.Before(until) {
		p.complain("%v hold %q together, %d of %d", with, c.Name, sum, limit)
	}
	if c.Token < last && now.Before(until) {
		p.complain("%s holds %q under the token %d, after one with %d", c.ID, c.Name, c.Token, last)
	}
}

// shorten has a caller believe to have a claim for no longer than this.
func (p *party) shorten(id string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.held {
		if h.ID == id {
			h.until = until
		}
	}
}

func (p *party) kill(id string) {
	p.drop(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed[id] = true
}

func (p *party) drop(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = slices.DeleteFunc(p.held, func(h *holding) bool { return h.ID == id })
}

// A caller acquires locks and gives them back, one after the other.
type caller struct {
	*party
	at     int // its client
	home   int // the client of its claim's first request
	random *rand.Rand
	claim  driver.Claim
	ttl    time.Duration // that its claim was requested with first
	until  time.Time     // its claim lives, by the last answer
}

const (
	shortestTTL = 2 * time.Second
	longestTTL  = 8 * time.Second
)

// often reports whether something happens, once in n times.
func (c *caller) often(n int) bool { return c.random.IntN(n) == 0 }

func (c *caller) pause(most time.Duration) { time.Sleep(time.Duration(c.random.Int64N(int64(most)))) }

func (c *caller) play() {
	for range 4 {
		c.pause(2 * time.Second)
		c.cycle()
	}
}

// draw makes a claim that was never requested.
func (c *caller) draw() driver.Claim {
	one := driver.Claim{
		Name: []string{"a", "b"}[c.random.IntN(2)], ID: fmt.Sprintf("%016x", c.random.Uint64()), Queue: !c.often(5),
		TTL: shortestTTL + time.Duration(c.random.Int64N(int64(longestTTL-shortestTTL)))/1000*1000, Weight: 1, Limit: 1,
	}
	switch c.random.IntN(4) {
	case 0:
		one.Limit = driver.All
	case 1:
		one.Weight, one.Limit = driver.All, driver.All
	case 2:
		one.Weight, one.Limit = 1+c.random.Int64N(2), 3
	}
	return one
}

// request sends a request, and notes for how long the claim lives.
func (c *caller) request(how string) (driver.Status, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	sent := time.Now()
	if until := sent.Add(c.claim.TTL); until.Before(c.until) {
		c.until = until // whatever becomes of the answer
		c.shorten(c.claim.ID, until)
	}
	st, err := c.clients[c.at].Request(ctx, c.claim)
	c.tell("client %d: %s %s %q %d of %d, token %d, TTL %v, detached %v: %+v, %v", c.at, how, c.claim.ID, c.claim.Name,
		c.claim.Weight, c.claim.Limit, c.claim.Token, c.claim.TTL, c.claim.Detached, st, err)
	if err == nil && st.Token != 0 {
		c.claim.Token = st.Token
		c.until = sent.Add(st.TTL)
		if st.Granted {
			c.hold(c.claim, c.until)
		}
	}
	return st, err
}

// cycle acquires a lock, has it for a while, and gives it back.
func (c *caller) cycle() {
	c.claim, c.until, c.home = c.draw(), time.Now(), c.at
	c.ttl = c.claim.TTL
	st, err := c.request("requests")
	for tries := 0; !driver.IsAnswer(err); tries++ {
		if tries > 3 && c.often(2) {
			c.giveUp()
			return
		}
		c.pause(200 * time.Millisecond)
		st, err = c.request("requests again")
	}
	switch {
	case errors.Is(err, driver.ErrGone): // as when its session ended while it was asked for
		c.late("the request")
		return
	case err != nil:
		c.complain("the request of %s: %v", c.claim.ID, err)
		return
	case !st.Granted && !c.claim.Queue:
		return
	}
	if !st.Granted && !c.await() {
		return
	}
	c.use()
}

// await waits for the grant, and reports whether it came.
func (c *caller) await() bool {
	for end := time.Now().Add(10 * time.Minute); ; {
		if time.Now().After(end) {
			c.complain("%s waits for ever", c.claim.ID)
			return false
		}
		if c.often(12) {
			c.giveUp()
			return false
		}
		ctx, cancel := context.WithTimeout(context.Background(), c.claim.TTL/3)
		st, err := c.clients[c.at].Wait(ctx, c.claim)
		cancel()
		c.tell("client %d: %s is told %+v, %v", c.at, c.claim.ID, st, err)
		switch {
		case errors.Is(err, driver.ErrGone):
			c.late("the wait")
			return false
		case err == nil && st.Granted:
			c.hold(c.claim, c.until) // under the deadline that it had
			return true
		}
		st, err = c.request("renews, waiting,")
		switch {
		case errors.Is(err, driver.ErrGone):
			c.late("the wait")
			return false
		case err == nil && st.Granted:
			return true
		}
	}
}

// use has the lock for a while, renews the claim, or leaves it alone and goes on at another client, and ends it.
func (c *caller) use() {
	for range c.random.IntN(5) {
		time.Sleep(c.claim.TTL / 3)
		if c.often(8) {
			time.Sleep(c.claim.TTL) // it was paused for too long
		}
		if c.w.moves && c.often(4) {
			c.claim.Detached = true
			if c.often(2) {
				c.claim.TTL = shortestTTL + c.claim.TTL/2
			}
		}
		if c.claim.Detached && c.often(2) {
			c.at = (c.at + 1) % len(c.clients)
		}
		if _, err := c.request("renews"); errors.Is(err, driver.ErrGone) {
			c.drop(c.claim.ID)
			c.late("its end")
			return
		}
	}
	if c.often(6) {
		if c.breakIt(); c.often(2) {
			c.late(breaking)
		}
		return
	}
	if c.often(8) { // it forgets to release
		c.drop(c.claim.ID)
		return
	}
	c.release("releases")
	c.late(releasing)
}

// release releases the claim until there is an answer.
func (c *caller) release(how string) {
	c.drop(c.claim.ID)
	for range 100 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err := c.clients[c.at].Release(ctx, c.claim)
		cancel()
		c.tell("client %d: %s %s: %v", c.at, how, c.claim.ID, err)
		if driver.IsAnswer(err) {
			return
		}
		c.pause(200 * time.Millisecond)
	}
	c.complain("%s cannot be released", c.claim.ID)
}

// giveUp takes a request back of which it is not known what became of it.
func (c *caller) giveUp() {
	c.claim.Token = 0
	c.release("undoes")
	c.late(undoing)
}

// breakIt has another client end the claim by force, which its holder may learn late.
func (c *caller) breakIt() {
	c.drop(c.claim.ID)
	other := c.clients[c.random.IntN(len(c.clients))]
	for range 100 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err := other.Break(ctx, c.claim.Name, c.claim.ID)
		cancel()
		c.tell("%s is broken: %v", c.claim.ID, err)
		if driver.IsAnswer(err) {
			return
		}
	}
}

// Ends that the store was asked to remember.
const (
	releasing = "its release"
	breaking  = "it was broken"
	undoing   = "its undo"
)

// late has a copy of the first request come when the claim has ended, within a TTL of that. It finds that.
func (c *caller) late(after string) {
	c.drop(c.claim.ID)
	now := time.Now()
	ended := now
	if c.until.Before(ended) {
		ended = c.until
	}
	c.mu.Lock()
	killed := c.killed[c.claim.ID] // then only the client that kept it knows
	c.mu.Unlock()
	c.claim.Token, c.claim.Detached, c.claim.TTL = 0, false, c.ttl
	barred := after == releasing || after == breaking || after == undoing
	if !barred || c.w.lean || ended.Before(now) {
		c.at = c.home // what nobody was asked to remember is barred for those who knew of it
	}
	c.pause(shortestTTL)
	sent := time.Now()
	st, err := c.request("requests late")
	if err == nil && st.Token != 0 && !killed && sent.Before(ended.Add(c.claim.TTL)) {
		c.complain("%s came back after %s", c.claim.ID, after)
	}
}
