package redislock

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/causes"
)

// A sentinelAnswer is what one sentinel says.
type sentinelAnswer struct {
	addr   string // of the master
	epoch  uint64
	id     string            // the sentinel's
	others map[string]string // the other sentinels that it knows: addresses by ID
}

type sentinelReply struct {
	addr string // that was asked
	sentinelAnswer
	err error
}

// A named is a server that sentinels name the master. Its epoch grows with each failover.
type named struct {
	addr  string
	epoch uint64
	many  bool // the majority of the sentinels that are known have answered
}

// A poll counts the answers of sentinels. A sentinel that has several addresses counts once.
type poll struct {
	members map[string]string         // all sentinels that are known: addresses by ID
	heard   map[string]sentinelAnswer // by ID
}

// stragglers is for how long answers are still taken after a majority has answered.
const stragglers = 50 * time.Millisecond

// count takes the replies of all addresses, or as many as decide. The error says why some are missing.
func (t *poll) count(ctx context.Context, replies <-chan sentinelReply, since uint64) error {
	var errs []error
	enough := ctx
	for missing := cap(replies); missing > 0; missing-- {
		select {
		case r := <-replies:
			if r.err != nil {
				errs = append(errs, &causes.Error{Where: r.addr, Err: explain(r.err)})
				continue
			}
			t.add(r.addr, r.sentinelAnswer)
			if enough == ctx && t.decides(since) {
				late, cancel := context.WithTimeout(ctx, stragglers)
				defer cancel()
				enough = late
			}
		case <-enough.Done():
			return causes.Of(append(errs, enough.Err())...)
		}
	}
	return causes.Of(errs...)
}

func (t *poll) add(addr string, a sentinelAnswer) {
	if a.id == "" {
		a.id = t.idAt(addr)
	}
	t.heard[a.id] = a
	t.members[a.id] = addr
	for id, addr := range a.others {
		t.mention(id, addr)
	}
}

// idAt returns the ID of the sentinel with this address. A sentinel may not be permitted to tell its ID; until
// another mentions it, its address stands for the ID.
func (t *poll) idAt(addr string) string {
	for id, at := range t.members {
		if at == addr {
			return id
		}
	}
	return addr
}

// mention adds a sentinel that another knows. If it has answered under its address, it now has its ID.
func (t *poll) mention(id, addr string) {
	if a, heard := t.heard[addr]; heard {
		delete(t.heard, addr)
		delete(t.members, addr)
		t.heard[id] = a
	}
	if _, heard := t.heard[id]; !heard || t.members[id] == "" {
		t.members[id] = addr
	}
}

// decides reports whether no other answer is needed. A majority that knows of nothing newer than an epoch may be
// behind, and the sentinels that know more may be slow: that decides nothing until all of them had their time.
func (t *poll) decides(since uint64) bool {
	n := t.result()
	return n.many && n.epoch >= since
}

// result believes the sentinel that knows of the latest failover: another may be cut off from the rest, together with
// a master that was replaced.
func (t *poll) result() named {
	var best named
	for _, id := range slices.Sorted(maps.Keys(t.heard)) {
		if a := t.heard[id]; best.addr == "" || a.epoch > best.epoch {
			best = named{addr: a.addr, epoch: a.epoch}
		}
	}
	best.many = 2*len(t.heard) > len(t.members)
	return best
}

// left returns the sentinels that still exist. If a majority has answered, a sentinel is gone that neither answered
// nor is known to one that did.
func (t *poll) left() map[string]string {
	if !t.result().many {
		return t.members
	}
	left := make(map[string]string)
	for id, a := range t.heard {
		left[id] = t.members[id]
		for id := range a.others {
			left[id] = t.members[id]
		}
	}
	return left
}
