package etcdlock_test

import (
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// largestLease is how many keys end with one lease at most.
func largestLease(t *testing.T, client *clientv3.Client) (most int) {
	t.Helper()
	leases, err := client.Leases(limit(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leases.Leases {
		answer, err := client.TimeToLive(limit(t), l.ID, clientv3.WithAttachedKeys())
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, len(answer.Keys))
	}
	return most
}

// notes is how many ends are noted.
func notes(t *testing.T, client *clientv3.Client) int64 {
	t.Helper()
	answer, err := client.Get(limit(t), "/holdfast/.ended/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return answer.Count
}

// A client that dies after many cycles leaves no lease that stalls the server with all that ends with it.
func TestNotesEndInSmallParts(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, other, client := open(t, nil, addr), open(t, nil, addr), dial(t, addr)
	const workers, cycles = 8, 100
	each(workers, func(i int) {
		for range cycles {
			release(t, d, acquire(t, other, claim(fmt.Sprint("job ", i), long)))
		}
	})
	if n := notes(t, client); n != workers*cycles {
		t.Errorf("%d ends are noted, want %d", n, workers*cycles)
	}
	if most := largestLease(t, client); most > 256 {
		t.Errorf("%d keys end with one lease", most)
	}
}

// That values were removed is noted likewise, also while the claims under which that was done live on.
func TestRemovedValuesEndInSmallParts(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, client := open(t, nil, addr), dial(t, addr)
	const workers, locks = 8, 50
	each(workers, func(i int) {
		for j := range locks {
			c := acquire(t, d, claim(fmt.Sprint("job ", i, " ", j), long))
			for at, text := range []string{"set", ""} {
				v := driver.Value{Text: text, Token: c.Token << 8, Set: time.UnixMicro(int64(at + 1))}
				if err := d.SetValue(limit(t), c, v); err != nil {
					t.Error(err)
					return
				}
			}
			release(t, d, c)
		}
	})
	if most := largestLease(t, client); most > 256 {
		t.Errorf("%d keys end with one lease", most)
	}
}

// The notes of all ways to end go, however many they are and whatever becomes of who left them.
func TestNotesEnd(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, other, client := open(t, nil, addr), open(t, nil, addr), dial(t, addr)
	for range 3 {
		release(t, other, acquire(t, d, claim("released", short)))
		broken := acquire(t, d, claim("broken", short))
		if err := other.Break(limit(t), "broken", broken.ID); err != nil {
			t.Fatal(err)
		}
	}
	if n := notes(t, client); n < 6 {
		t.Errorf("%d ends are noted, want 6", n)
	}
	d.Close()
	other.Close()
	until(t, "all notes are gone", func() bool { return notes(t, client) == 0 })
}

// A claim that is left alone lives for its TTL, and not for as long as another that its client had on the same lease.
func TestLeftAloneForNoLonger(t *testing.T) {
	t.Parallel()
	addr := server(t).Addr
	d, client := open(t, nil, addr), dial(t, addr)
	const ttl = 4 * time.Second
	beside := acquire(t, d, claim("beside", ttl))
	c := acquire(t, d, claim("left", short))
	left := c
	left.TTL, left.Detached = ttl, true
	request(t, d, left)
	began := time.Now()
	keepRenewing(t, d, beside)
	until(t, "the lease beside is extended", func() bool { return time.Since(began) > ttl/2 })
	for range 2 {
		most := ttl - time.Since(began) + time.Second
		if left := leaseLeft(t, client, "/holdfast/left/"); left > most {
			t.Errorf("the claim lives for %v, want at most %v", left, most)
		}
		request(t, d, c) // sent before the claim was left alone
	}
}
