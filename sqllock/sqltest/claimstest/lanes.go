package claimstest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/internal/proxy"
)

// clientWith opens a client with a parameter more in its URL.
func (s Store) clientWith(t testing.TB, parameter string) *drivertest.Facade {
	t.Helper()
	d, err := drivertest.Open(context.Background(), s.urlWith(parameter))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func (s Store) urlWith(parameter string) string {
	url := s.URL(s.Addr)
	if strings.Contains(url, "?") {
		return url + "&" + parameter
	}
	return url + "?" + parameter
}

// sweeping is how many connections a client has besides while it sweeps, and shortly after.
const sweeping = 1

// A client that is asked for much at once opens a few connections and no more, and closes them when
// there is less to do.
func testConnectionsAtOnce(t *testing.T, s Store) {
	db := s.admin(t)
	for parameter, most := range map[string]int64{"connections=1": 1, "connections=2": 2, "": 4} {
		d := s.clientWith(t, parameter)
		var crowd sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 16 {
			crowd.Go(func() {
				for ctx.Err() == nil {
					release(t, d, request(t, d, mutex(fmt.Sprint(t.Name(), i)), true))
				}
			})
		}
		eventually(t, "it opens what it may", func() bool { return number(t, db, s.Sessions) == most })
		for range 10 {
			if n := number(t, db, s.Sessions); n > most+sweeping {
				t.Errorf("%s: %d connections, want %d, and %d while it sweeps", parameter, n, most, sweeping)
			}
		}
		cancel()
		crowd.Wait()
		eventually(t, "one is left", func() bool { return number(t, db, s.Sessions) == 1 })
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		eventually(t, "none is left", func() bool { return number(t, db, s.Sessions) == 0 })
	}
	for _, parameter := range []string{
		"connections=-1", "connections=many", "connections=2&mode=session", "waits=-1", "waits=2&mode=session",
	} {
		if d, err := drivertest.Open(t.Context(), s.urlWith(parameter)); err == nil {
			d.Close()
			t.Errorf("%s was taken", parameter)
		}
	}
}

// When packets of all connections that are open are swallowed, and new ones work, one attempt for each of them is lost,
// and the next goes over a new one: also for a lock whose wake locks are in the old one.
func testDeadFlows(t *testing.T, s Store) {
	p := proxy.New(t, s.Addr)
	d := s.clientAt(t, p.Addr)
	held := request(t, d, mutex(t.Name()), true)
	p.SwallowOpen()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if st, err := d.Request(ctx, held); err == nil {
		t.Errorf("an answer from a dead connection: %+v", st)
	}
	request(t, d, held, true)
	results, err := d.Renew(t.Context(), []driver.Claim{held})
	if err != nil || results[0].Err != nil {
		t.Errorf("Renew: %+v, %v", results, err)
	}
	release(t, d, held)
	release(t, d, request(t, d, mutex(t.Name()), true))
}

// A renewal has a connection of its own, where that of the requests is taken by one that is not answered.
func testRenewalBesideRequests(t *testing.T, s Store) {
	p := proxy.New(t, s.Addr)
	behind := *s.Server
	behind.Addr = p.Addr
	s.Server = &behind
	d := s.clientWith(t, "connections=1")
	held := request(t, d, mutex(t.Name()), true)
	p.Count(statements)
	p.SwallowOpen()
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error, 1)
	go func() {
		_, err := d.Request(ctx, mutex(t.Name()+" other"))
		answered <- err
	}()
	eventually(t, "the request is sent", func() bool { return p.Counted() > 0 })
	soon, end := context.WithTimeout(t.Context(), patience/4)
	defer end()
	results, err := d.Renew(soon, []driver.Claim{held})
	if err != nil || results[0].Err != nil {
		t.Errorf("Renew: %+v, %v", results, err)
	}
	cancel()
	if err := <-answered; err == nil {
		t.Error("the request was answered over a dead connection, so this shows nothing")
	}
	release(t, d, held)
}

// A client that looks at what it holds, on nobody's behalf, may be the first to use a connection that is dead. It gives
// that up soon, so that what others want of the same lock goes over a new one.
func testDeadFlowOfALook(t *testing.T, s Store) {
	p := proxy.New(t, s.Addr)
	d := s.clientAt(t, p.Addr)
	held := request(t, d, mutex(t.Name()), true)
	p.Count(statements)
	p.SwallowOpen()
	stop, err := d.Listen(t.Context(), held, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	eventually(t, "it looks", func() bool { return p.Counted() > 0 })
	ctx, cancel := context.WithTimeout(t.Context(), patience) // TCP would take many times as long to notice
	defer cancel()
	if err := d.Release(ctx, held); err != nil {
		t.Errorf("Release: %v", err)
	}
}

// Where opening a connection takes longer than a renewal may, as when the server is far away, claims are renewed over
// the connection that there is.
func testSlowToConnect(t *testing.T, s Store) {
	pace.Run(t, "far away", func(t *pace.T) { slowToConnect(t, s) })
}

func slowToConnect(t *pace.T, s Store) {
	t.Margin(100 * time.Millisecond)
	p := proxy.New(t, s.Addr)
	d := s.clientAt(t, p.Addr)
	held := request(t, d, mutex(t.Name()), true)
	p.Delay(t.Scaled(150 * time.Millisecond))
	renew := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), t.Scaled(900*time.Millisecond))
		defer cancel()
		results, err := d.Renew(ctx, []driver.Claim{held})
		if err == nil {
			err = results[0].Err
		}
		return err
	}
	for range 4 {
		if err := renew(); err == nil {
			return
		} else {
			t.Logf("Renew: %v", err)
		}
	}
	t.Error("the claim is never renewed")
}

// A server that is slow, and not gone, is asked with more patience about what a client holds: the client learns that
// its claim was revoked.
func testSlowLook(t *testing.T, s Store) {
	p := proxy.New(t, s.Addr)
	d, other := s.clientAt(t, p.Addr), s.client(t)
	held := request(t, d, mutex(t.Name()), true)
	p.Count(statements)
	told := make(chan struct{})
	stop, err := d.Listen(t.Context(), held, sync.OnceFunc(func() { close(told) }))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	eventually(t, "it looks", func() bool { return p.Counted() > 0 })
	p.Delay(1100 * time.Millisecond) // each way
	if err := other.Revoke(t.Context(), held.Name, held.ID); err != nil {
		t.Fatal(err)
	}
	select {
	case <-told:
	case <-time.After(patience / 2):
		t.Error("the holder is never told")
	}
}
