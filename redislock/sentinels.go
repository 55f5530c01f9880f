package redislock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/rueidis"
)

// sentinels are the servers that decide which server is the master.
type sentinels struct {
	master string // the name of the group
	dial   func(ctx context.Context, addr string) (rueidis.Client, error)

	mu      sync.Mutex
	clients map[string]rueidis.Client // by address; nil where there is no connection yet
}

// A named is the master as sentinels name it. Its epoch grows with each failover.
type named struct {
	addr  string
	epoch uint64
	many  bool // the majority of the sentinels that are known have answered
}

// sentinelPatience is how long a sentinel may take to answer.
const sentinelPatience = time.Second

// ask asks all sentinels at once, and believes the one that knows of the latest failover: another may be cut off from the
// rest, together with a master that was replaced.
func (s *sentinels) ask(ctx context.Context) (named, error) {
	ctx, cancel := context.WithTimeout(ctx, sentinelPatience)
	defer cancel()
	addrs := s.known()
	answers, errs := make([]named, len(addrs)), make([]error, len(addrs))
	var all sync.WaitGroup
	for i, addr := range addrs {
		all.Go(func() { answers[i], errs[i] = s.askOne(ctx, addr) })
	}
	all.Wait()
	var best named
	answered := 0
	for i, a := range answers {
		if errs[i] != nil {
			continue
		}
		answered++
		if best.addr == "" || a.epoch > best.epoch {
			best = a
		}
	}
	if answered == 0 {
		return named{}, fmt.Errorf("no sentinel names a master: %w", explain(errors.Join(errs...)))
	}
	best.many = 2*answered > len(addrs)
	return best, nil
}

func (s *sentinels) known() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var addrs []string
	for addr := range s.clients {
		addrs = append(addrs, addr)
	}
	slices.Sort(addrs)
	return addrs
}

// askOne asks a sentinel for the master, and for the other sentinels. During a failover its record of the master already
// has the new epoch and still the old address, so the address is asked for by itself, and after the epoch.
func (s *sentinels) askOne(ctx context.Context, addr string) (named, error) {
	client, err := s.client(ctx, addr)
	if err != nil {
		return named{}, err
	}
	ask := func(what string) rueidis.Completed {
		return client.B().Arbitrary("SENTINEL", what, s.master).Build()
	}
	answers := client.DoMulti(ctx, ask("MASTER"), ask("GET-MASTER-ADDR-BY-NAME"), ask("SENTINELS"))
	record, err := answers[0].AsStrMap()
	if err != nil {
		return named{}, rueidisError(err)
	}
	place, err := answers[1].AsStrSlice()
	if err != nil || len(place) != 2 {
		return named{}, cmp.Or(rueidisError(err), errNoMaster)
	}
	if others, err := answers[2].ToArray(); err == nil {
		s.learn(others)
	}
	epoch, err := strconv.ParseUint(record["config-epoch"], 10, 64)
	return named{addr: net.JoinHostPort(place[0], place[1]), epoch: epoch}, err
}

var errNoMaster = errors.New("redis: the answer of a sentinel cannot be understood")

func (s *sentinels) learn(others []rueidis.RedisMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range others {
		other, err := m.AsStrMap()
		if err != nil || s.clients == nil {
			continue
		}
		addr := net.JoinHostPort(other["ip"], other["port"])
		if _, known := s.clients[addr]; !known {
			s.clients[addr] = nil
		}
	}
}

// client returns the connection to a sentinel, which it makes where there is none.
func (s *sentinels) client(ctx context.Context, addr string) (rueidis.Client, error) {
	s.mu.Lock()
	client := s.clients[addr]
	s.mu.Unlock()
	if client != nil {
		return client, nil
	}
	client, err := s.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients == nil {
		client.Close()
		return nil, errClosed
	}
	s.clients[addr] = client
	return client, nil
}

func (s *sentinels) close() {
	s.mu.Lock()
	clients := s.clients
	s.clients = nil
	s.mu.Unlock()
	for _, client := range clients {
		if client != nil {
			client.Close()
		}
	}
}
