package etcdlock_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/servers"
)

// answerFromThePast has reads answered from the revision that choose returns for the present one, as members did that
// were paused: https://github.com/etcd-io/etcd/issues/20418. What writes is done in the present, since it goes through
// the log of the cluster.
func (f *front) answerFromThePast(t *testing.T, choose func(present int64) int64) {
	f.answer(func(c *call) ([]byte, error) {
		switch c.method {
		case "KV/Range":
			read := decoded(t, c.request, new(pb.RangeRequest))
			return c.fromThePast(t, choose, func(revision int64) []byte {
				read.Revision = revision
				return encoded(t, read)
			}, func(answer []byte, revision int64) []byte {
				r := decoded(t, answer, new(pb.RangeResponse))
				r.Header.Revision = revision
				return encoded(t, r)
			})
		case "KV/Txn":
			txn := decoded(t, c.request, new(pb.TxnRequest))
			if !readsOnly(append(txn.Success, txn.Failure...)) {
				return c.forward()
			}
			return c.fromThePast(t, choose, func(revision int64) []byte {
				for _, op := range append(txn.Success, txn.Failure...) {
					op.GetRequestRange().Revision = revision
				}
				return encoded(t, txn)
			}, func(answer []byte, revision int64) []byte {
				r := decoded(t, answer, new(pb.TxnResponse))
				r.Header.Revision = revision
				return encoded(t, r)
			})
		}
		return c.forward()
	})
}

func readsOnly(ops []*pb.RequestOp) bool {
	for _, op := range ops {
		if op.GetRequestRange() == nil {
			return false
		}
	}
	return true
}

// fromThePast asks the server twice: for its revision, and then for what was so at another.
func (c *call) fromThePast(
	t *testing.T, choose func(int64) int64, ask func(int64) []byte, tell func([]byte, int64) []byte,
) ([]byte, error) {
	t.Helper()
	present, err := c.forward()
	if err != nil {
		return nil, err
	}
	now := decoded(t, present, new(pb.DeleteRangeResponse)).Header.Revision // all answers begin with the same header
	revision := choose(now)
	if revision >= now {
		return present, nil
	}
	c.request = ask(revision)
	answer, err := c.forward()
	if err != nil {
		return nil, err
	}
	return tell(answer, revision), nil
}

// A member that answers from before a writer came lets no reader in beside it, also where the queue is too long to be
// read at once.
func TestReadFromThePastGrantsNothing(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	f := newFront(t, addr)
	d, others := open(t, nil, f.addr), open(t, nil, addr)
	release(t, d, acquire(t, d, claim("first", long)))
	before := revisionOf(t, addr)
	const all = 1000
	acquire(t, others, units("job", all, all))
	for range 40 { // more than are read at first, and none of them is granted
		enqueue(t, others, units("job", 1, all))
	}
	f.answerFromThePast(t, func(int64) int64 { return before })
	for _, queue := range []bool{true, false} {
		c := units("job", 1, all)
		c.Queue = queue
		if st, err := d.Request(limit(t), c); err == nil && st.Granted {
			t.Errorf("a reader was let in beside a writer (Queue: %v)", queue)
		}
	}
}

func revisionOf(t *testing.T, addr string) int64 {
	t.Helper()
	answer, err := dial(t, addr).Get(limit(t), "x")
	if err != nil {
		t.Fatal(err)
	}
	return answer.Header.Revision
}

// A claim that waits is not given up by an answer from before it was made. A holder is told that it lost, since a
// cluster that was restored from a backup has granted its lock to others; and its claim leaves the queue.
func TestMissingInThePast(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	f := newFront(t, addr)
	d := open(t, nil, f.addr)
	before := revisionOf(t, addr)
	held := acquire(t, d, claim("past", long))
	waiting := enqueue(t, d, claim("past", long))
	f.answerFromThePast(t, func(int64) int64 { return before })
	if _, err := d.Request(limit(t), waiting); err == nil || driver.IsAnswer(err) {
		t.Errorf("a claim that waits was answered from the past: %v", err)
	}
	if _, err := d.Request(limit(t), held); !errors.Is(err, driver.ErrGone) {
		t.Errorf("the holder got %v, want that it lost", err)
	}
	f.answer(nil)
	if err := granted(limit(t), d, waiting); err != nil {
		t.Errorf("the next was not let in: %v", err)
	}
}

// Clients whose members answer from up to 30 revisions ago exclude each other, and all get their turn.
func TestCrowdThatReadsThePast(t *testing.T) {
	t.Parallel()
	addr := servers.Etcd(t).Addr
	const all, rounds = 1000, 8
	var held atomic.Int64
	each(6, func(i int) {
		f := newFront(t, addr)
		d := open(t, nil, f.addr)
		f.answerFromThePast(t, func(present int64) int64 {
			if rand.N(3) == 0 {
				return present
			}
			return max(present-rand.Int64N(30), 1)
		})
		weight := []int64{1, 1, all}[i%3]
		for range rounds {
			c := units("job", weight, all)
			if !getsIn(t, d, &c) {
				continue // an answer from the past, for which it counts as one that lost
			}
			if n := held.Add(weight); n > all {
				t.Errorf("%d of %d are held", n, all)
			}
			driver.Sleep(t.Context(), 2*time.Millisecond)
			held.Add(-weight)
			for end := limit(t); end.Err() == nil; {
				if err := d.Release(end, c); driver.IsAnswer(err) {
					break
				}
			}
		}
	})
}

// getsIn waits until a claim is granted, as a client does.
func getsIn(t *testing.T, d claimed.Driver, c *driver.Claim) bool {
	t.Helper()
	c.Queue = true
	for end := limit(t); end.Err() == nil; driver.Sleep(end, time.Millisecond) {
		st, err := d.Request(end, *c)
		switch {
		case errors.Is(err, driver.ErrGone):
			return false
		case err == nil && st.Granted:
			c.Token = st.Token
			return true
		case err != nil && driver.IsAnswer(err):
			t.Error(fmt.Errorf("request: %w", err))
			return false
		}
	}
	t.Error("it was not granted in time")
	return false
}
