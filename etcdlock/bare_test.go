package etcdlock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
)

// A claim whose one request was answered leaves nothing behind but the revision of its key, and its client answers what
// comes later about it.
func TestReleaseLeavesNoNote(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, client := open(t, nil, addr), dial(t, addr)
	for name, releaseAll := range map[string]func(claims []driver.Claim){
		"alone": func(claims []driver.Claim) {
			for _, c := range claims {
				release(t, d, c)
			}
		},
		"together": func(claims []driver.Claim) {
			batch := make([]driver.Op, len(claims))
			for i, c := range claims {
				batch[i] = driver.Op{Kind: driver.OpRelease, Claim: c}
			}
			d.Do(limit(t), batch, func(_ int, r driver.Result) {
				if r.Err != nil {
					t.Error(r.Err)
				}
			})
		},
	} {
		claims := make([]driver.Claim, 3)
		for i := range claims {
			claims[i] = acquire(t, d, claim(fmt.Sprint(name, i), long))
		}
		releaseAll(claims)
		if n := notes(t, client); n > 0 {
			t.Errorf("%s: %d ends are noted", name, n)
		}
		releaseAll(claims)
		for _, c := range claims {
			c.Token++
			gone(t, "a release under another token", d.Release(limit(t), c))
			c.Token = 0
			_, err := d.Request(limit(t), c)
			gone(t, "a late request", err)
		}
	}
}

func gone(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, driver.ErrGone) {
		t.Errorf("%s answers %v, want ErrGone", what, err)
	}
}

// A client that has taken a claim over cannot tell how often that was requested.
func TestReleaseAfterATakeover(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, other, client := open(t, nil, addr), open(t, nil, addr), dial(t, addr)
	for n, releaseIt := range map[int64]func(c driver.Claim){
		1: func(c driver.Claim) { release(t, other, c) },
		2: func(c driver.Claim) {
			beside := acquire(t, other, claim("beside", long))
			batch := []driver.Op{{Kind: driver.OpRelease, Claim: c}, {Kind: driver.OpRelease, Claim: beside}}
			other.Do(limit(t), batch, func(int, driver.Result) {})
		},
	} {
		before := notes(t, client)
		c := acquire(t, d, claim(fmt.Sprint("job", n), long))
		acquire(t, other, c)
		releaseIt(c)
		if noted := notes(t, client) - before; noted != 1 {
			t.Errorf("way %d: %d ends are noted, want 1", n, noted)
		}
	}
}

// A release that got no answer may arrive when the next claim has come, at the same key.
func TestReleaseArrivesLate(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d := newLate(t, addr)
	c := acquire(t, d, claim("job", long))
	arrive := d.arriveLate()
	if err := d.Release(limit(t), c); driver.IsAnswer(err) {
		t.Fatalf("the first release is answered: %v", err)
	}
	release(t, d, c)
	next := acquire(t, d, claim("job", long))
	arrive()
	if queue, err := d.Queue(limit(t), "job"); err != nil || len(queue) != 1 || queue[0].ID != next.ID {
		t.Errorf("the queue is %+v, %v; want the next claim", queue, err)
	}
}

// A claim of which a copy of the request may be under way leaves a note, which bars the copy.
func TestReleaseAfterARepeatedRequest(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	for name, ask := range map[string]func(*late, []driver.Op) []driver.Result{
		"alone":    doOneByOne,
		"together": doTogether,
	} {
		d, other := newLate(t, addr), open(t, nil, addr)
		acquire(t, d, claim("warm up "+name, long)) // for its lease
		batch := make([]driver.Op, 2)
		for i := range batch {
			batch[i] = driver.Op{Kind: driver.OpRequest, Claim: claim(fmt.Sprint(name, i), long)}
		}
		arrive := d.arriveLate()
		ask(d, batch)
		for i, r := range ask(d, batch) {
			if r.Err != nil || !r.Status.Granted {
				t.Fatalf("%s: the second request of claim %d answers %+v", name, i, r)
			}
			batch[i].Kind, batch[i].Claim.Token = driver.OpRelease, r.Status.Token
		}
		for _, r := range ask(d, batch) {
			if r.Err != nil {
				t.Error(r.Err)
			}
		}
		arrive()
		for _, op := range batch {
			if queue, err := other.Queue(limit(t), op.Claim.Name); err != nil || len(queue) > 0 {
				t.Errorf("%s: the queue is %+v, %v; want none", name, queue, err)
			}
		}
	}
}

func doOneByOne(d *late, batch []driver.Op) (results []driver.Result) {
	for _, op := range batch {
		d.Do(context.Background(), []driver.Op{op}, func(_ int, r driver.Result) { results = append(results, r) })
	}
	return results
}

func doTogether(d *late, batch []driver.Op) []driver.Result {
	results := make([]driver.Result, len(batch))
	d.Do(context.Background(), batch, func(i int, r driver.Result) { results[i] = r })
	return results
}

// A key that somebody deletes leaves no note, and the first release says that the claim was gone.
func TestReleaseOfADeletedKey(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, client := open(t, nil, addr), dial(t, addr)
	c := acquire(t, d, claim("job", long))
	if _, err := client.Delete(limit(t), "/holdfast/job/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		gone(t, "a release", d.Release(limit(t), c))
	}
}

// A release that got no answer is repeated. It may have been done, and leaves no note that would say so.
func TestReleaseThatGotNoAnswer(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	for name, row := range map[string]struct {
		meanwhile func(t *testing.T, other *etcdlock.Driver, client *clientv3.Client, c driver.Claim)
		arrives   bool
		gone      bool
	}{
		"it was done":     {arrives: true},
		"it was not done": {},
		"the claim was broken": {gone: true, meanwhile: func(
			t *testing.T, other *etcdlock.Driver, _ *clientv3.Client, c driver.Claim,
		) {
			if err := other.Break(limit(t), c.Name, c.ID); err != nil {
				t.Fatal(err)
			}
		}},
		"another client has released it": {meanwhile: func(
			t *testing.T, other *etcdlock.Driver, _ *clientv3.Client, c driver.Claim,
		) {
			release(t, other, c)
		}},
		"its lease has ended": {gone: true, meanwhile: func(
			t *testing.T, _ *etcdlock.Driver, client *clientv3.Client, c driver.Claim,
		) {
			if _, err := client.Revoke(limit(t), leaseOf(t, client, c.Name)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d, other, client := newLate(t, addr), open(t, nil, addr), dial(t, addr)
			c := acquire(t, d, claim(strings.ReplaceAll(name, " ", "-"), long))
			if row.arrives {
				d.loseAnswer()
			} else {
				d.arriveLate() // never
			}
			if err := d.Release(limit(t), c); driver.IsAnswer(err) {
				t.Fatalf("the first release is answered: %v", err)
			}
			if row.meanwhile != nil {
				row.meanwhile(t, other, client, c)
			}
			err := d.Release(limit(t), c)
			switch {
			case row.gone:
				gone(t, "the second release", err)
			case err != nil:
				t.Errorf("the second release answers %v", err)
			}
			_, err = d.Request(limit(t), c)
			gone(t, "a renewal", err)
		})
	}
}
