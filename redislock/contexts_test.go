package redislock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/internal/claimed"
	"github.com/holdfast-go/holdfast/internal/pace"
	"github.com/holdfast-go/holdfast/redislock"
)

// A dripping is a server whose answer to the first command in a list never ends: a byte comes now and then, so that its
// connections look alive. Other commands get an answer.
type dripping struct {
	addr    string
	drips   chan struct{} // has an element for each such answer that has begun
	welcome atomic.Int32  // so many clients are greeted all the same
	timed   bool          // the contexts of callers have a deadline, too, long after they are cancelled
}

func newDripping(t *testing.T, commands ...string) *dripping {
	d := &dripping{drips: make(chan struct{}, 100)}
	d.addr = listen(t, func(c net.Conn) { d.serve(c, commands) })
	return d
}

func (d *dripping) serve(c net.Conn, commands []string) {
	defer c.Close()
	for r := bufio.NewReader(c); ; {
		args, err := readCommand(r)
		if err != nil {
			return
		}
		name, line := strings.ToUpper(args[0]), "+OK"
		if name == "HELLO" {
			line = hello
		}
		if slices.Contains(commands, name) && (name != "HELLO" || d.welcome.Add(-1) < 0) {
			d.drips <- struct{}{}
			drip(c)
			return
		}
		if _, err := io.WriteString(c, line+"\r\n"); err != nil {
			return
		}
	}
}

// drip sends a long answer, until the connection is closed.
func drip(c net.Conn) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for _, err := io.WriteString(c, "$1000000\r\n"); err == nil; _, err = io.WriteString(c, "x") {
		<-tick.C
	}
}

// returns fails unless do returns soon after its context has ended, which is when the server has begun to answer.
func (d *dripping) returns(t *testing.T, what string, do func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	if d.timed {
		ctx, cancel = context.WithTimeout(t.Context(), time.Hour)
	}
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	select {
	case <-d.drips:
	case err := <-done:
		t.Fatalf("%s returned %v before the server had begun to answer", what, err)
	}
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want that the context has ended", what, err)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%s goes on although its context has ended", what)
	}
}

// Opening ends with its context, whatever the server does.
func TestOpenEndsWithItsContext(t *testing.T) {
	srv := newDripping(t, "HELLO")
	for _, url := range []string{
		"redis://" + srv.addr, "redis://:pw@" + srv.addr, "redis-cluster://" + srv.addr,
		"redis-sentinel://" + srv.addr + "/mymaster",
	} {
		srv.returns(t, url, func(ctx context.Context) error {
			_, err := drivertest.Open(ctx, url+"?connecttimeout=1h")
			return err
		})
	}
}

// A muffled server hangs up on the first connection at the first request, and greets nobody after that.
func newMuffled(t *testing.T) *dripping {
	d := &dripping{drips: make(chan struct{}, 100)}
	var connections atomic.Int64
	d.addr = listen(t, func(c net.Conn) {
		if connections.Add(1) > 1 {
			d.serve(c, []string{"HELLO"})
			return
		}
		defer c.Close()
		for r := bufio.NewReader(c); ; {
			args, err := readCommand(r)
			if err != nil || strings.HasPrefix(args[0], "EVAL") {
				return
			}
			line := "+OK"
			if args[0] == "HELLO" {
				line = hello
			}
			io.WriteString(c, line+"\r\n")
		}
	})
	return d
}

// A call that has to wait for a new connection ends with its context, and so do others that wait for the same one. By
// itself the client library gives a greeting ten seconds.
func TestCallsThatConnectEndWithTheirContexts(t *testing.T) {
	for name, prepare := range map[string]func(driver.Driver){
		"after a break": func(driver.Driver) {}, "after one that was overlooked": redislock.OverlookBreaks,
	} {
		for _, timed := range []bool{false, true} {
			pace.Run(t, fmt.Sprintf("%s, timed %v", name, timed), func(t *pace.T) {
				began := time.Now()
				callsConnect(t.T, timed, prepare)
				if took := time.Since(began); took > t.Scaled(5*time.Second) {
					t.Errorf("calls whose contexts had ended took %v", took)
				}
			})
		}
	}
}

func callsConnect(t *testing.T, timed bool, prepare func(driver.Driver)) {
	srv := newMuffled(t)
	srv.timed = timed
	d, err := drivertest.Open(t.Context(), "redis://"+srv.addr+"?connecttimeout=1h")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	prepare(d)
	c := claim("jobs", long)
	c.Queue = false
	if _, err := d.Request(t.Context(), c); err == nil {
		t.Fatal("the server has answered")
	}
	request := func(ctx context.Context) error {
		_, err := d.Request(ctx, c)
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { first <- request(ctx) }()
	<-srv.drips
	srv.drips <- struct{}{} // the connection is still being made
	srv.returns(t, "a call that waits for the connection of another", request)
	cancel()
	if err := <-first; err == nil {
		t.Error("the server has answered")
	}
	srv.drips <- struct{}{}
	srv.returns(t, "a call that connects", request)
}

// So do calls, also those that have a connection for themselves, as all have while nobody else asks anything.
func TestCallsEndWithTheirContexts(t *testing.T) {
	srv := newDripping(t, "EVALSHA", "BLPOP", "INFO", "WAIT")
	t.Run("cancelled", func(t *testing.T) { callsEnd(t, srv) })
	srv.timed = true
	t.Run("cancelled long before their deadline", func(t *testing.T) { callsEnd(t, srv) })
}

func callsEnd(t *testing.T, srv *dripping) {
	c := claim("jobs", long)
	c.Queue = false // it listens to nothing
	calls := map[string]func(context.Context, claimed.Driver) error{
		"Request": func(ctx context.Context, d claimed.Driver) error {
			_, err := d.Request(ctx, c)
			return err
		},
		"Release": func(ctx context.Context, d claimed.Driver) error { return d.Release(ctx, c) },
		"Check": func(ctx context.Context, d claimed.Driver) error {
			_, err := driver.Check(ctx, d, false)
			return err
		},
		"Queue": func(ctx context.Context, d claimed.Driver) error {
			_, err := d.Queue(ctx, "jobs")
			return err
		},
	}
	for params, names := range map[string][]string{
		"":                          {"Request", "Release", "Check", "Queue"},
		"&replicas=1":               {"Request", "Release", "Check", "Queue"},
		"&layout=redisson":          {"Request", "Release", "Check"},
		"&layout=python-redis-lock": {"Request", "Release", "Check"},
	} {
		for _, name := range names {
			d, err := drivertest.Open(t.Context(), "redis://"+srv.addr+"?connecttimeout=1h"+params)
			if err != nil {
				t.Fatal(err)
			}
			srv.returns(t, name+" "+params, func(ctx context.Context) error { return calls[name](ctx, d) })
			d.Close()
		}
	}
}

// Nor does a call outlast its context that has to connect first.
func TestCallsEndWhileTheyConnect(t *testing.T) {
	srv := newDripping(t, "HELLO")
	c := claim("jobs", long)
	for params, call := range map[string]func(context.Context, claimed.Driver) error{
		"&replicas=1": func(ctx context.Context, d claimed.Driver) error {
			_, err := d.Request(ctx, c)
			return err
		},
		"": func(ctx context.Context, d claimed.Driver) error { return d.Watch(ctx, "jobs") },
	} {
		srv.welcome.Store(1)
		d, err := drivertest.Open(t.Context(), "redis://"+srv.addr+"?connecttimeout=1h"+params)
		if err != nil {
			t.Fatal(err)
		}
		srv.returns(t, params, func(ctx context.Context) error { return call(ctx, d) })
		d.Close()
	}
}

// So do calls over a client that the caller has opened.
func TestCallsOfOwnClientEndWithTheirContexts(t *testing.T) {
	srv := newDripping(t, "EVALSHA")
	srv.timed = true
	own, err := redislock.New(rawClient(t, srv.addr), nil)
	if err != nil {
		t.Fatal(err)
	}
	d := drivertest.NewFacade(own)
	defer d.Close()
	c := claim("jobs", long)
	c.Queue = false
	srv.returns(t, "Request", func(ctx context.Context) error {
		_, err := d.Request(ctx, c)
		return err
	})
}
