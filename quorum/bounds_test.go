package quorum_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/quorum"
)

// A request that pauses between two rounds when the driver is closed ends.
func TestCloseBetweenRounds(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		var lose atomic.Int32
		d := quorumOf(t, ps.shaky(&lose, 0), &quorum.Options{MaxTTL: ttl})
		lose.Store(3) // the first round fails
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		ended := make(chan error, 1)
		began := time.Now()
		go func() {
			_, err := d.Request(ctx, claim("jobs"))
			ended <- err
		}()
		synctest.Wait() // it pauses
		d.Close()
		if err := <-ended; !errors.Is(err, driver.ErrClosed) || time.Since(began) > ttl {
			t.Errorf("the request of a driver that was closed: %v, after %v", err, time.Since(began))
		}
	})
}

// Close does not wait for nodes that hang, however long the timeout is that they have otherwise.
func TestCloseWhileNodesHang(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		nodes := []driver.Driver{ps[0], ps[1], ps[2]}
		d := quorumOf(t, nodes, &quorum.Options{MaxTTL: ttl, Timeout: ttl / 2})
		c := acquire(t, d, claim("jobs"))
		synctest.Wait() // all nodes have it
		ps.each((*part).hang)
		defer ps.each((*part).goOn)
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		d.Release(ctx, c) // it goes on in the background
		began := time.Now()
		d.Close()
		if took := time.Since(began); took > time.Second {
			t.Errorf("closing took %v", took)
		}
	})
}

// Votes that are being given back when the driver is closed reach nodes that are slow.
func TestCloseGivesBack(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		c := acquire(t, d, claim("jobs"))
		synctest.Wait() // all nodes have it
		ps.each((*part).hang)
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		d.Release(ctx, c)
		time.AfterFunc(300*time.Millisecond, func() { ps.each((*part).goOn) })
		d.Close()
		ps.have(t, "jobs", 0)
	})
}

// A claim is tried so often and then its caller is told, also when the answers always come too late.
func TestAlwaysTooLate(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		nodes := make([]driver.Driver, len(ps))
		for i, p := range ps {
			nodes[i] = p
			p.lag.Store(int64(600 * time.Millisecond))
		}
		d := quorumOf(t, nodes, &quorum.Options{MaxTTL: ttl, Timeout: ttl / 2})
		c := try(claim("jobs"))
		c.TTL = 500 * time.Millisecond
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		began := time.Now()
		st, err := d.Request(ctx, c)
		if took := time.Since(began); took > ttl {
			t.Errorf("it took %v: %+v, %v", took, st, err)
		}
	})
}

// A release does not outlast its context for the sake of the line.
func TestReleaseEndsWithItsContext(t *testing.T) {
	inTime(t, 3, func(t *testing.T, ps parts) {
		d := ps.client(t)
		first := acquire(t, d, claim("jobs"))
		c := claim("jobs")
		claimed.Ask(t, d, c, false) // it stands in line, so it has a place there
		line := -1
		for i, p := range ps {
			if (parts{p}).having(t, "~turn/jobs") > 0 {
				line = i
			}
		}
		release(t, d, first)
		c = await(t, d, c)
		synctest.Wait()
		ps[line].hang()
		defer ps[line].goOn()
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		began := time.Now()
		err := d.Release(ctx, c)
		if took := time.Since(began); took > time.Millisecond {
			t.Errorf("the context ended after 1ms, the release after %v (%v)", took, err)
		}
	})
}
