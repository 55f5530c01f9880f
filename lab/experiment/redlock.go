package experiment

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/lab/classic"
	"github.com/holdfast-go/holdfast/lab/recording"
)

func onQuorum() []Experiment {
	return []Experiment{redlockFirst(), redlockClock(), redlockPaused()}
}

func redlockFirst() Experiment {
	return Experiment{
		Name:     "redlock-first-clients",
		Question: "Does a lock on three servers work while one of them does not?",
		Needs:    "Redis",
		Code:     "classic/redlock_first.go",
		Variants: []Variant{
			{Title: "Redlock as its first clients wrote it, one server down",
				Run: func(s *Trial) { firstClients(s, s.threeRedis(), (*servers.Server).Kill) }},
			{Title: "The same, one server hanging",
				Run: func(s *Trial) { firstClients(s, s.threeRedis(), (*servers.Server).Pause) }},
			{Title: "Holdfast, one server down", Ours: true,
				Run: func(s *Trial) { oursOnTwo(s, (*servers.Server).Kill) }},
			{Title: "Holdfast, one server hanging", Ours: true,
				Run: func(s *Trial) { oursOnTwo(s, (*servers.Server).Pause) }},
		},
		Answer: func(r Report) string {
			return fmt.Sprintf("With one of three servers down nobody got the lock, in up to %.0f attempts; "+
				"with Holdfast A had it in %s.", r.most(false, inVain), period(1000*r.most(true, timeToLock)))
		},
	}
}

func redlockClock() Experiment {
	return Experiment{
		Name:     "redlock-clock",
		Question: "What if the clock of one of three servers jumps ahead?",
		Needs:    "Redis",
		Code:     "classic/redlock.go",
		Variants: []Variant{
			{Title: "Redlock", Run: func(s *Trial) { clockJumps(s, classicVoters) }},
			{Title: "Holdfast, with tokens", Ours: true, Run: func(s *Trial) { clockJumps(s, ourVoters) }},
		},
		Answer: lateWrites,
	}
}

func redlockPaused() Experiment {
	return Experiment{
		Name:     "redlock-paused",
		Question: "What if a holder's process stands still until its majority has gone to another?",
		Needs:    "Redis",
		Code:     "classic/redlock.go",
		Variants: []Variant{
			{Title: "Redlock", Run: func(s *Trial) {
				s.pausedWriter(task{Lock: lockRedlock, Addrs: addrs(s.threeRedis()), TTL: 300 * time.Millisecond})
			}},
			{Title: "Holdfast, with tokens", Ours: true, Run: func(s *Trial) {
				s.pausedWriter(task{Lock: lockHoldfast, URL: redlockURL(addrs(s.threeRedis())...), TTL: quorumTTL})
			}},
		},
		Answer: lateWrites,
	}
}

// threeRedis starts three servers that know nothing of each other.
func (e *environment) threeRedis() (three []*servers.Server) {
	for range 3 {
		three = append(three, servers.Redis(testing.TB(e)))
	}
	return three
}

// threeRedisAndClock is threeRedis, with the clock of the second.
func (e *environment) threeRedisAndClock() (three []*servers.Server, clock *servers.Clock) {
	t := testing.TB(e)
	clock = servers.NewClock(t)
	return []*servers.Server{servers.Redis(t), servers.RedisAt(t, clock), servers.Redis(t)}, clock
}

func addrs(list []*servers.Server) (all []string) {
	for _, s := range list {
		all = append(all, s.Addr)
	}
	return all
}

// quorumTTL is for how long locks on several servers may be asked for. Their votes do not count until they have run
// for so long.
const quorumTTL = 3 * time.Second

func redlockURL(addrs ...string) string {
	return "redlock://" + strings.Join(addrs, ",") + "?maxttl=" + quorumTTL.String()
}

const inVain, timeToLock = "attempts in vain", "time to lock"

// firstClients has one of three servers fail, and fails if the lock cannot be had although two answer.
func firstClients(s *Trial, three []*servers.Server, fault func(*servers.Server, testing.TB)) {
	l := classic.FirstRedlock{Redlock: classic.Redlock{Key: lockKey, Value: rand.Text(), TTL: time.Second},
		Delay: 100 * time.Millisecond}
	for _, node := range three {
		l.Nodes = append(l.Nodes, s.redisAt(node.Addr, hasty))
	}
	fault(three[1], s.TB)
	s.Fault("server 2", "it answers no more")
	ctx, cancel := context.WithTimeout(s.Context(), time.Second)
	defer cancel()
	began, waited := time.Now(), s.Wait("A")
	attempts, err := l.Lock(ctx)
	waited()
	if err == nil {
		s.Work("A")
		s.Result(false, "A had it, at attempt %d", attempts)
		return
	}
	s.Mark("A", recording.Noted, "%d attempts in vain; the last error: %v", attempts, err)
	s.Number(inVain, float64(attempts), "")
	s.Number("time for each", time.Since(began).Seconds()/float64(attempts), "s")
	s.Result(true, "two of three servers answer, and nobody gets the lock: an error of one fails all")
}

// oursOnTwo has one of three servers fail, and locks on the others.
func oursOnTwo(s *Trial, fault func(*servers.Server, testing.TB)) {
	three := s.threeRedis()
	c := s.Client(redlockURL(addrs(three)...), holdfast.WithTTL(quorumTTL))
	warm, err := surely(s.Context(), c.Mutex("lab").Lock) // the servers are old enough from here on
	s.Must(err)
	s.Must(warm.Release(s.Context()))
	fault(three[1], s.TB)
	s.Fault("server 2", "it answers no more")
	began, waited := time.Now(), s.Wait("A")
	ctx, cancel := context.WithTimeout(s.Context(), 20*time.Second)
	defer cancel()
	lease, err := surely(ctx, c.Mutex("lab").Lock)
	waited()
	if err != nil {
		s.Result(true, "two of three servers answer, and A does not get the lock: %v", err)
		return
	}
	took := time.Since(began)
	s.Number(timeToLock, took.Seconds(), "s")
	s.Work("A")
	_ = lease.Release(s.Context()) // which the third server may not confirm
	s.Result(false, "A had it from the two that answer, in %s", period(milliseconds(took)))
}

// A voter makes a lock of three servers, and tells its token once it is held.
type voter func(s *Trial, addrs []string) (lock func(context.Context) (bool, error), token func() uint64)

func classicVoters(s *Trial, addrs []string) (func(context.Context) (bool, error), func() uint64) {
	l := classic.Redlock{Key: lockKey, Value: rand.Text(), TTL: time.Minute}
	for _, addr := range addrs {
		l.Nodes = append(l.Nodes, s.redisAt(addr, patient))
	}
	return l.TryLock, func() uint64 { return 0 }
}

func ourVoters(s *Trial, addrs []string) (func(context.Context) (bool, error), func() uint64) {
	m := s.Client(redlockURL(addrs...), holdfast.WithTTL(quorumTTL)).Mutex("lab")
	var lease *holdfast.Lease
	lock := func(ctx context.Context) (_ bool, err error) {
		lease, err = surely(ctx, m.Lock)
		return err == nil, err
	}
	return lock, func() uint64 { return lease.Token() }
}

// clockJumps has A lock on two servers, because it does not reach the third, and the clock of the second jump, so that
// B locks on the second and the third. It fails if A may still write when B has.
func clockJumps(s *Trial, v voter) {
	three, clock := s.threeRedisAndClock()
	unreached := closedAddr(s)
	lockA, tokenA := v(s, []string{three[0].Addr, three[1].Addr, unreached})
	lockB, tokenB := v(s, addrs(three))
	account := s.resource()
	s.mustLock(lockA)
	endA := s.Hold("A")
	clock.Set(s, time.Minute)
	s.Fault("server 2", "its clock jumps ahead by a minute, so that all that has a time to live is gone")
	granted := s.Wait("B")
	ours, err := lockB(s.Context())
	s.Must(err)
	granted()
	if !ours {
		endA()
		s.Result(false, "B does not get the lock")
		return
	}
	s.lateWrite(account, tokenA(), tokenB(), endA,
		"A has lost its majority, and its late write is refused: B's token is greater")
}

// closedAddr is an address at which nobody listens.
func closedAddr(s *Trial) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.Must(err)
	defer l.Close()
	return l.Addr().String()
}
