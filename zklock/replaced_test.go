package zklock_test

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
	"github.com/holdfast-go/holdfast/internal/servers"
	"github.com/holdfast-go/holdfast/zklock"
)

// asAnew makes a proxy pass for ClickHouse Keeper: a client that asks for a session that was there before gets a new
// one, without a word, and the greeting does not say whether the server takes writes.
func asAnew(chunk []byte) proxy.Reaction {
	const (
		knownAt, wantedAt, wantedEnd = 8, 20, 28
		passwordLength               = 16
		passwordAt                   = wantedEnd + 4
	)
	opens := len(chunk) >= passwordAt+passwordLength && binary.BigEndian.Uint32(chunk[4:]) == 0 &&
		binary.BigEndian.Uint32(chunk[wantedEnd:]) == passwordLength
	if opens {
		clear(chunk[knownAt : knownAt+8])
		clear(chunk[wantedAt:wantedEnd])
		clear(chunk[passwordAt : passwordAt+passwordLength])
		chunk = chunk[:passwordAt+passwordLength]
		binary.BigEndian.PutUint32(chunk, uint32(len(chunk)-4))
	}
	return proxy.Reaction{Pass: chunk}
}

// The server answers a reconnection with another session. All ways to learn of a loss tell of it at once, long before
// the next renewal is due, and before the lock goes to the next.
func TestReplacedSession(t *testing.T) {
	t.Parallel()
	server := zklock.Server(t)
	for name, await := range map[string]func(*holdfast.Lease){
		"Err": func(l *holdfast.Lease) {
			for l.Err() == nil {
				time.Sleep(time.Millisecond)
			}
		},
		"Done":    func(l *holdfast.Lease) { <-l.Done() },
		"Context": func(l *holdfast.Lease) { <-l.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pace.Run(t, "told", func(t *pace.T) { replacedSession(t, server.Addr, await) })
		})
	}
}

// replacedSession has a holder get another session, and tries one way to learn of the loss.
func replacedSession(t *pace.T, addr string, await func(*holdfast.Lease)) {
	const ttl, atOnce = 110 * time.Second, 15 * time.Second // a renewal is due after 36 s
	name := rand.Text()
	p := proxy.New(t, addr)
	p.React(asAnew)
	held := mustLock(t, open(t, nil, p.Addr), name, ttl)
	next := make(chan error, 1) // that the first holder knew when the next had the lock
	go func() {                 // ends when that has it
		_, err := holdfast.New(open(t, nil, addr)).Mutex(name, holdfast.WithTTL(ttl)).Lock(limit(t))
		next <- cmp.Or(err, held.Err())
	}()
	told := make(chan struct{})
	go func() { // ends with the lease
		await(held)
		close(told)
	}()
	p.Reset()
	began := time.Now()
	if <-told; time.Since(began) > t.Scaled(atOnce) {
		t.Errorf("the holder is told after %v, by a renewal", time.Since(began))
	}
	if err := <-next; !errors.Is(err, holdfast.ErrLost) || !strings.Contains(err.Error(), "another session") {
		t.Errorf("when the next has the lock, the lease of the first says %v", err)
	}
}

func mustLock(t testing.TB, d claimed.Driver, name string, ttl time.Duration) *holdfast.Lease {
	t.Helper()
	l, err := holdfast.New(d).Mutex(name, holdfast.WithTTL(ttl)).Lock(limit(t))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A waiter learns it as well, and a new claim is queued in the session that the client has then.
func TestReplacedSessionOfAWaiter(t *testing.T) {
	t.Parallel()
	server := servers.ZooKeeper(t)
	p := proxy.New(t, server.Addr)
	p.React(asAnew)
	d, other := open(t, nil, p.Addr), open(t, nil, server.Addr)
	held := acquire(t, other, claim("job", longest))
	waiting := enqueue(t, d, claim("job", longest))
	ended := make(chan error, 1)
	go func() { // ends with the claim
		_, err := d.Wait(limit(t), waiting)
		for err != nil && !errors.Is(err, driver.ErrGone) && limit(t).Err() == nil {
			_, err = d.Wait(limit(t), waiting) // the connection breaks before the reason is known
		}
		ended <- err
	}()
	p.Reset()
	if err := <-ended; !errors.Is(err, driver.ErrGone) || !strings.Contains(err.Error(), "another session") {
		t.Errorf("Wait returns %v, want ErrGone with the reason", err)
	}
	if err := d.Release(limit(t), waiting); err != nil && !errors.Is(err, driver.ErrGone) { // it is there until then
		t.Error(err)
	}
	next := enqueue(t, d, claim("job", longest))
	release(t, other, held)
	until(t, "it is granted", func() bool {
		st, err := d.Request(limit(t), next)
		return err == nil && st.Granted
	})
}
