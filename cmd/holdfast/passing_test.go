package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
)

func TestIsPassing(t *testing.T) {
	dial := func(network string, err error) error {
		return fmt.Errorf("open it: %w", &net.OpError{Op: "dial", Net: network, Err: &os.SyscallError{Err: err}})
	}
	answer := func(effect driver.Effect) error {
		return fmt.Errorf("open it: %w", &driver.ServerError{Effect: effect, Words: "no"})
	}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"full or starting":            {answer(driver.NotNow), true},
		"wrong password":              {answer(driver.Refused), false},
		"an answer that nobody knows": {answer(driver.MayHaveHappened), false},
		"nothing listens":             {dial("tcp", syscall.ECONNREFUSED), true},
		"no socket":                   {dial("unix", syscall.ENOENT), true},
		"no file":                     {&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, false},
		"no way":                      {dial("tcp", syscall.EHOSTUNREACH), false},
		"no such host":                {dial("tcp", &net.DNSError{IsNotFound: true}), false},
		"silence":                     {context.DeadlineExceeded, false},
		"nothing":                     {nil, false},
		"one of two refuses": {
			errors.Join(answer(driver.Refused), dial("tcp", syscall.ECONNREFUSED)), false,
		},
	} {
		if got := isPassing(c.err); got != c.want {
			t.Errorf("%s (%v): %v, want %v", name, c.err, got, c.want)
		}
	}
}

// fullUntil is when "full:" has room.
var fullUntil time.Time

func init() {
	driver.Register("full", func(context.Context, *url.URL) (driver.Driver, error) {
		if time.Now().Before(fullUntil) {
			return nil, &driver.ServerError{Effect: driver.NotNow, Words: "ERR max number of clients reached"}
		}
		return memlock.New(), nil
	})
}

// A server that is full is waited for within --wait, and without one until it has room.
func TestServerThatIsFull(t *testing.T) {
	for _, c := range []struct {
		wait, full time.Duration
		noWait     bool
		code       int
		says       []string
	}{
		{0, time.Hour, false, 0, []string{"max number of clients reached; waiting until it serves us"}},
		{time.Minute, 30 * time.Second, false, 0, []string{"max number of clients reached; waiting for up to 1m0s"}},
		{time.Minute, time.Hour, false, exitUnavailable, []string{"waiting for up to 1m0s"}},
		{0, time.Hour, true, exitUnavailable, nil},
	} {
		t.Run(fmt.Sprintf("%v of %v", c.wait, c.full), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, said := quietApp(t)
				a.backend.url = "full://host"
				fullUntil = time.Now().Add(c.full)
				begin := time.Now()
				p := &plan{runFlags: runFlags{wait: c.wait, noWait: c.noWait}, name: "hello"}
				s, err := untilServed(t.Context(), a, p, new(inbox), isPassing, func() (*store, error) {
					d, err := a.backend.connect(t.Context(), "full://host", "full://host")
					if err != nil {
						return nil, notServed("full://host", err)
					}
					return &store{Client: holdfast.New(d), driver: d}, nil
				})
				e := &exit{}
				if errors.As(err, &e); e.code != c.code {
					t.Errorf("it ends with %v, want code %d", err, c.code)
				}
				if s != nil {
					s.abandon(t.Context())
				}
				if took := time.Since(begin); c.noWait && took > 0 || c.code != 0 && took > c.wait ||
					c.code == 0 && took > c.full+lastRetry+time.Second {
					t.Errorf("it took %v", took)
				}
				for i, line := range said() {
					if i >= len(c.says) || !strings.Contains(line, c.says[i]) {
						t.Errorf("it said %q, want %q", line, c.says)
					}
				}
			})
		})
	}
}

// readOnly lets reads alone pass, as a replica does.
func readOnly(op driver.Op) error {
	if op.Kind != driver.OpRequest {
		return nil
	}
	return &driver.ServerError{Effect: driver.NotNow, Words: "it is read-only"}
}

// A wait that ends while the server refuses to write is no lock that is taken.
func TestWaitForAReadOnlyServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := quietApp(t)
		d := failing(memlock.New(), readOnly)
		s := &store{Client: holdfast.New(d, ownPatience()...), driver: d}
		defer s.abandon(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Mutex("hello").Lock(ctx)
		p := &plan{runFlags: runFlags{wait: time.Second, slots: 1}, name: "hello"}
		err = a.notAcquired(t.Context(), nil, s, p, err)
		e := &exit{}
		if !errors.As(err, &e) || e.code != exitUnavailable || !strings.Contains(err.Error(), "it is read-only") {
			t.Errorf("it ends with code %d: %v", e.code, err)
		}
	})
}

// A wait without an end says after a minute what it waits for, and once.
func TestLongWait(t *testing.T) {
	for name, c := range map[string]struct {
		flags runFlags
		away  bool
		json  bool
		want  []string
	}{
		"who has it":   {want: []string{"somebody since 00:00:00 (for 1m0s)", "still waiting after 1m0s"}},
		"nobody there": {away: true, want: []string{"backend unavailable", "still waiting after 1m0s"}},
		"--json":       {json: true, want: []string{`{"event":"warning"`, "somebody since 00:00:00 (for 1m0s)"}},
		"--quiet":      {flags: runFlags{quiet: true}},
		"--wait":       {flags: runFlags{wait: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, said := quietApp(t)
				a.json = c.json
				var away atomic.Bool
				d := failing(memlock.New(), func(op driver.Op) error {
					if away.Load() && op.Kind == driver.OpQueue {
						return driver.ErrUnsent
					}
					return nil
				})
				s := &store{Client: holdfast.New(d, ownPatience()...), driver: d}
				defer s.abandon(t.Context())
				_, err := s.Mutex("hello", holdfast.WithOwner("somebody")).Lock(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				away.Store(c.away)
				c.flags.slots, c.flags.ttl = 1, 15*time.Second
				p := &plan{runFlags: c.flags, name: "hello"}
				ctx, cancel := context.WithCancel(t.Context())
				stop := a.tellLongWait(ctx, s, p)
				time.Sleep(longWait - time.Second)
				if lines := said(); len(lines) > 0 {
					t.Errorf("it said %q too early", lines)
				}
				time.Sleep(time.Hour)
				lines := said()
				if len(lines) != min(len(c.want), 1) {
					t.Errorf("it said %q", lines)
				}
				for _, want := range c.want {
					if !strings.Contains(strings.Join(lines, "\n"), want) {
						t.Errorf("it said %q, want %q", lines, want)
					}
				}
				stop()
				cancel()
			})
		})
	}
}

// quietApp is a command whose standard error is read by said.
func quietApp(t *testing.T) (a *app, said func() []string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "err"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	return &app{streams: streams{out: out, err: out}}, func() (lines []string) {
		text, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			lines = append(lines, strings.TrimSpace(line))
		}
		return lines
	}
}
