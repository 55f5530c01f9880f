package drivertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/bubble"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/memlock"
)

// modelRuns is how many sequences of modelSteps operations are compared, each on a lock of its own.
const (
	modelRuns  = 8
	modelSteps = 60
)

// runModel makes the same random operations on the driver and on memlock, one after the other, and
// compares the answers.
func runModel(t *testing.T, h Harness) {
	var wg sync.WaitGroup
	for i := range modelRuns {
		wg.Go(func() { runModelOnce(t, h, i) })
	}
	wg.Wait()
}

// RunModel compares a driver in memory with the reference, by as many random sequences of operations as are asked for.
// It is for drivers that need more of them than the few of [Run].
func RunModel(t *testing.T, h Harness, runs int) {
	defer bubble.Alone()()
	for i := 0; i < runs && !t.Failed(); i++ {
		runModelOnce(t, h, i)
	}
}

func runModelOnce(t *testing.T, h Harness, n int) {
	h.run(t, fmt.Sprint(n), func(t *pace.T) {
		e := newEnv(t, h, setting{})
		if !fifo(e.d) {
			t.Skip("without order the answers may differ")
		}
		newModel(e, random(t, n)).run()
	})
}

// A model is a driver and the reference side by side.
type model struct {
	*env
	random *rand.Rand
	sides  [2]side // the driver and memlock
	claims []*modelled
	steps  []string // what was done so far
	tokens map[uint64]uint64
}

// A side is one of the two, with some clients.
type side struct {
	what    string
	clients []*Facade
}

// A modelled claim has one ID and a token on each side.
type modelled struct {
	driver.Claim
	asked  bool
	first  int  // the client that requested it first
	ended  bool // it was released
	by     int  // the client that did so first
	owner  int  // the client that requested it last
	tokens [2]uint64
	lapsed bool // it expired, so that after a while each side may have forgotten it
}

func newModel(e *env, r *rand.Rand) *model {
	store := memlock.New()
	return &model{
		env: e, random: r, tokens: make(map[uint64]uint64),
		sides: [2]side{
			{e.traits.Backend, []*Facade{e.d, e.other, e.open()}},
			{"memlock", []*Facade{NewFacade(store), NewFacade(store.Client()), NewFacade(store.Client())}},
		},
	}
}

func (m *model) run() {
	m.Cleanup(func() {
		if m.Failed() {
			tellSeed(m)
			m.Logf("the operations:\n%s", strings.Join(m.steps, "\n"))
		}
	})
	for range modelSteps {
		m.step()
		m.sameQueue()
		if m.Failed() {
			return
		}
	}
	m.lapse()
	m.sameQueue()
}

// step draws an operation and makes it.
func (m *model) step() {
	client := m.random.IntN(3)
	c := m.pick()
	switch n := m.random.IntN(20); {
	case n < 7 || c == nil:
		m.request(client, m.draw(), "request")
	case n < 10:
		m.request(m.renewerOf(c, client), c, "repeat")
	case n < 12:
		m.renew(m.renewerOf(c, client), c, 0)
	case n < 13:
		m.renew(m.renewerOf(c, client), c, 1)
	case n < 16:
		m.release(client, c, "release", func(side int) uint64 { return c.tokens[side] })
	case n < 17:
		m.release(client, c, "release by ID alone", func(int) uint64 { return 0 })
	case n < 18:
		m.release(client, m.draw(), "release of nothing", func(int) uint64 { return 0 })
	case n < 19:
		m.overrule(client, c, "break", driver.OpBreak, (*Facade).Break)
	default:
		m.overrule(client, c, "revoke", driver.OpRevoke, (*Facade).Revoke)
	}
}

// pick returns a claim that was requested before, living or dead.
func (m *model) pick() *modelled {
	if len(m.claims) == 0 {
		return nil
	}
	recent := m.claims[max(0, len(m.claims)-8):]
	if c := recent[m.random.IntN(len(recent))]; !c.lapsed {
		return c
	}
	return nil
}

// renewerOf returns the client, or the owner of a claim that is queued where only the owner may request it again.
func (m *model) renewerOf(c *modelled, client int) int {
	if !m.traits.Detach && m.isQueued(c) {
		return c.owner
	}
	return client
}

func (m *model) isQueued(c *modelled) bool {
	return slices.ContainsFunc(m.queueOf(1), func(e driver.Entry) bool { return e.ID == c.ID })
}

// draw makes a claim that was never requested.
func (m *model) draw() *modelled {
	c := m.claim()
	if m.traits.Weighted {
		c = m.units(drawUnits(m.random))
	}
	c.TTL = m.Long(max(time.Minute, m.traits.MinTTL), m.traits.MaxTTL)
	c.Queue = m.random.IntN(6) > 0
	drawn := &modelled{Claim: c}
	m.claims = append(m.claims, drawn)
	return drawn
}

// note writes down what is done.
func (m *model) note(client int, c *modelled, what string) {
	step := fmt.Sprintf("%3d. client %d: %s %s, %d of %d, queue %v, tokens %d",
		len(m.steps)+1, client, what, c.ID, c.Weight, c.Limit, c.Queue, c.tokens)
	m.steps = append(m.steps, step)
}

// request requests a claim, for the first time or again. Only the client that did so first may do so without its token.
func (m *model) request(client int, c *modelled, what string) {
	client = m.requesterOf(c, client)
	m.note(client, c, what)
	c.owner = client
	m.compare(c, func(side int) (driver.Status, error) {
		again := c.Claim
		if client != c.first {
			again.Token = c.tokens[side]
		}
		return m.sides[side].clients[client].Request(context.Background(), again)
	})
}

// requesterOf returns the client, or the one that requested the claim first if the others know no token.
func (m *model) requesterOf(c *modelled, client int) int {
	if !c.asked {
		c.asked, c.first = true, client
	}
	if c.tokens[0] == 0 || c.tokens[1] == 0 {
		return c.first
	}
	return client
}

// renew requests a claim under its token, or under one that is off by so much.
func (m *model) renew(client int, c *modelled, off uint64) {
	if off == 0 {
		client = m.requesterOf(c, client)
	}
	m.note(client, c, fmt.Sprintf("renew with token + %d", off))
	if c.tokens == [2]uint64{} && off == 0 {
		c.owner = client // it has no token, so this queues it
	}
	m.compare(c, func(side int) (driver.Status, error) {
		again := c.Claim
		again.Token = c.tokens[side] + off
		results, err := m.sides[side].clients[client].Renew(context.Background(), []driver.Claim{again})
		if err != nil {
			return driver.Status{}, err
		}
		st := results[0].Status
		if !st.Granted {
			st.Contended, st.Retry = false, 0 // see driver.Op.Brief
		}
		return st, results[0].Err
	})
}

// release releases a claim. Only the client that did so first may do so again.
func (m *model) release(client int, c *modelled, what string, token func(side int) uint64) {
	if !c.ended {
		c.ended, c.by = true, client
	}
	client = c.by
	m.note(client, c, what)
	m.compareErrors(func(side int) error {
		gone := c.Claim
		gone.Token = token(side)
		return m.sides[side].clients[client].Release(context.Background(), gone)
	})
}

// overrule does what anybody may do to a claim by its ID alone, if the driver is able to.
func (m *model) overrule(client int, c *modelled, what string, kind driver.Kind,
	do func(d *Facade, ctx context.Context, name, id string) error,
) {
	if !m.traits.Ops.Has(kind) {
		return
	}
	m.note(client, c, what)
	m.compareErrors(func(side int) error {
		return do(m.sides[side].clients[client], context.Background(), m.name, c.ID)
	})
}

// lapse lets every second claim in the queue expire.
func (m *model) lapse() {
	var longest time.Duration
	for i, en := range m.queueOf(1) {
		if i%2 == 1 {
			continue
		}
		c := m.named(en.ID)
		c.lapsed = true
		c.TTL = m.shortTTL()
		m.note(c.owner, c, "let expire")
		for side := range m.sides {
			st, err := m.sides[side].clients[c.owner].Request(context.Background(), c.Claim)
			if err != nil {
				m.Fatalf("%s: %v", m.sides[side].what, err)
			}
			longest = max(longest, st.TTL)
		}
	}
	m.pass(longest + longest/10)
	for end := time.Now().Add(m.patience()); time.Now().Before(end); {
		if got, want := m.queues(); got == want {
			return
		}
		m.pass(10 * time.Millisecond) // a busy machine takes longer to remove them
	}
}

func (m *model) named(id string) *modelled {
	for _, c := range m.claims {
		if c.ID == id {
			return c
		}
	}
	m.Fatalf("memlock made up the claim %s", id)
	return nil
}

// compare makes a request on both sides and fails unless they answer alike.
func (m *model) compare(c *modelled, request func(side int) (driver.Status, error)) {
	m.Helper()
	var sts [2]driver.Status
	m.compareErrors(func(side int) (err error) {
		sts[side], err = request(side)
		return err
	})
	got, want := sts[0], sts[1]
	if !c.Queue && !want.Granted {
		// Nothing else is said about a claim that left no trace.
		got, want = driver.Status{Granted: got.Granted}, driver.Status{}
	}
	if got.Granted != want.Granted || got.Contended != want.Contended || got.Revoked != want.Revoked ||
		(got.Retry > 0) != (want.Retry > 0) {
		m.Errorf("%s answers %+v, memlock %+v", m.sides[0].what, got, want)
	}
	m.sameToken(c, got.Token, want.Token)
}

// sameToken fails unless a token has its rank on both sides.
func (m *model) sameToken(c *modelled, got, want uint64) {
	m.Helper()
	if want == 0 {
		return
	}
	c.tokens = [2]uint64{got, want}
	if !m.traits.Fenced {
		return
	}
	for mem, other := range m.tokens {
		if (got < other) != (want < mem) || (got == other) != (want == mem) {
			m.Errorf("tokens are in another order: %s has %d after %d, memlock %d after %d",
				m.sides[0].what, got, other, want, mem)
		}
	}
	m.tokens[want] = got
}

// compareErrors does the same on both sides and fails unless both say the same about it.
func (m *model) compareErrors(do func(side int) error) {
	m.Helper()
	_, got := m.insist(func(context.Context) error { return do(0) })
	want := do(1)
	gone := errors.Is(got, driver.ErrGone)
	if got != nil && !gone || gone != errors.Is(want, driver.ErrGone) {
		m.Errorf("%s answers error %v, memlock %v", m.sides[0].what, got, want)
	}
}

// sameQueue fails unless both queues hold the same claims in the same order and state.
func (m *model) sameQueue() {
	m.Helper()
	if got, want := m.queues(); got != want {
		m.Errorf("%s has the queue\n%s, memlock\n%s", m.sides[0].what, got, want)
	}
}

// queues are what both sides say of the queue, if it can be asked for.
func (m *model) queues() (got, want string) {
	m.Helper()
	if !m.traits.Listed {
		return "", ""
	}
	return show(m.queueOf(0)), show(m.queueOf(1))
}

func (m *model) queueOf(side int) []driver.Entry {
	m.Helper()
	entries, err := m.sides[side].clients[1].Queue(context.Background(), m.name)
	if err != nil {
		m.Fatalf("%s: Queue: %v", m.sides[side].what, err)
	}
	return entries
}

func show(entries []driver.Entry) string {
	var b strings.Builder
	for _, en := range entries {
		fmt.Fprintf(&b, "\t%s %d/%d granted %v\n", en.ID, en.Weight, en.Limit, en.Granted)
	}
	return b.String()
}
