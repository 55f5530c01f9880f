package holdfast_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

var writeWords = flag.Bool("words", false, "TestWordsOfErrors writes its file anew")

// wordsFile has what every call says, for every way in which a backend fails.
const wordsFile = "testdata/words.txt"

// failures are the ways in which a backend fails.
var failures = []struct {
	name string
	faults
}{
	{"says nothing", faults{cut: true}},
	{"cannot be reached", faults{refuse: errors.New("dial tcp 127.0.0.1:1: connect: connection refused")}},
	{"cannot be reached, surely", faults{refuse: fmt.Errorf("dial tcp: connection refused: %w", driver.ErrUnsent)}},
	{"answers that it may have happened", faults{refuse: &driver.ServerError{Words: "E1 leader changed"}}},
	{"answers not now", faults{refuse: &driver.ServerError{Effect: driver.NotNow, Words: "E2 the server is full"}}},
	{"answers no", faults{refuse: &driver.ServerError{
		Effect: driver.Refused, Words: "E3 no rights", Advice: "grant them",
	}}},
}

// A try is something that a caller can do while the backend fails, with a client that has the lock "held".
type try struct {
	name string
	do   func(ctx context.Context, c *holdfast.Client, held *holdfast.Lease) error
}

// fail returns its error.
func (a try) fail(t *testing.T, f faults) (err error) {
	synctest.Test(t, func(t *testing.T) {
		l, c, _ := twoClients(t)
		held := must(c.Mutex("held").Lock(t.Context()))(t)
		detached := must(c.Mutex("detached").Lock(t.Context()))(t)
		handle = must(detached.Detach(t.Context()))(t)
		l.set(f)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = a.do(ctx, c, held)
		l.set(faults{})
	})
	return err
}

var attempts = []try{
	{"TryLock", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		return second(c.Mutex("m").TryLock(ctx))
	}},
	{"Lock", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		return second(c.Mutex("m").Lock(ctx))
	}},
	{"Lock, for a second", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return second(c.Mutex("m").Lock(ctx))
	}},
	{"Lock, beside another goroutine, for a second", func(
		ctx context.Context, c *holdfast.Client, _ *holdfast.Lease,
	) error {
		go c.Mutex("m").Lock(ctx)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return second(c.Mutex("m").Lock(ctx))
	}},
	{"Lock, cancelled at once", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Millisecond, cancel)
		return second(c.Mutex("m").Lock(ctx))
	}},
	{"Lock, while the client closes", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		time.AfterFunc(time.Second, func() {
			ended, cancel := context.WithCancel(ctx)
			cancel()
			c.Close(ended)
		})
		return second(c.Mutex("m").Lock(ctx))
	}},
	{"Acquire", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		return second(c.Semaphore("m", 3).Acquire(ctx, 2))
	}},
	{"Resume", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		return second(c.Resume(ctx, handle))
	}},
	{"Lease.Check", func(ctx context.Context, _ *holdfast.Client, l *holdfast.Lease) error { return l.Check(ctx) }},
	{"Lease.Release", func(ctx context.Context, _ *holdfast.Client, l *holdfast.Lease) error { return l.Release(ctx) }},
	{"Lease.Detach", func(ctx context.Context, _ *holdfast.Client, l *holdfast.Lease) error {
		return second(l.Detach(ctx))
	}},
	{"Lease.SetValue", func(ctx context.Context, _ *holdfast.Client, l *holdfast.Lease) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return l.SetValue(ctx, "text")
	}},
	{"Lease.Err, a TTL later", func(ctx context.Context, _ *holdfast.Client, l *holdfast.Lease) error {
		time.Sleep(ttl)
		return l.Err()
	}},
	{"Value", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		return second(c.Value(ctx, "m"))
	}},
	{"Queue", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		return second(c.Queue(ctx, "m"))
	}},
	{"Watch", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		for _, err := range c.Watch(ctx, "m") {
			return err
		}
		return nil
	}},
	{"Leader", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		return second(c.Election("m").Leader(ctx))
	}},
	{"Break", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		return c.Break(ctx, "theirs", "some-claim")
	}},
	{"Revoke", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		return c.Revoke(ctx, "theirs")
	}},
	{"Notes", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		return second(c.Notes(ctx, "m"))
	}},
	{"Close", func(ctx context.Context, c *holdfast.Client, _ *holdfast.Lease) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return c.Close(ctx)
	}},
}

// handle is one of a lock that somebody has detached.
var handle string

// Every call that a backend fails says what happened, once, in one line and with the words of the backend. The file is
// for readers: after a change of words, -words writes it anew, and its diff shows what users will read.
func TestWordsOfErrors(t *testing.T) {
	var all strings.Builder
	for _, f := range failures {
		fmt.Fprintf(&all, "The backend %s\n\n", f.name)
		for _, a := range attempts {
			t.Run(f.name+"/"+a.name, func(t *testing.T) {
				err := a.fail(t, f.faults)
				if err == nil {
					t.Fatal("no error")
				}
				checkWords(t, f.faults, err)
				fmt.Fprintf(&all, "  %s\n    %s\n", a.name, steady(err.Error()))
			})
		}
		all.WriteString("\n")
	}
	if *writeWords {
		if err := os.WriteFile(wordsFile, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(wordsFile); err != nil || string(want) != all.String() {
		t.Errorf("%s says otherwise (%v); these are the words now:\n%s", wordsFile, err, all.String())
	}
}

// checkWords reports what no error may say.
func checkWords(t *testing.T, f faults, err error) {
	t.Helper()
	text := err.Error()
	if strings.Contains(text, "\n") {
		t.Errorf("%q is more than one line", text)
	}
	server, answered := errors.AsType[*driver.ServerError](f.refuse)
	if !answered {
		return
	}
	if _, ok := errors.AsType[*driver.ServerError](err); !ok || strings.Count(text, server.Words) != 1 {
		t.Errorf("%q does not have the server's words, once", text)
	}
	for _, silent := range []string{"no answer", "not answer", "reachable"} {
		if strings.Contains(text, silent) {
			t.Errorf("%q calls an answer silence", text)
		}
	}
}

var (
	clockTime = regexp.MustCompile(`\d\d:\d\d:\d\d`)
	tookTime  = regexp.MustCompile(`\([\d.]+m?s\)`)
)

// steady is a text without what differs from run to run.
func steady(text string) string {
	return tookTime.ReplaceAllString(clockTime.ReplaceAllString(text, "TIME"), "(FOR)")
}

// The server's words stay in the error when the attempts that follow are not answered, or get no connection.
func TestLastWordsStay(t *testing.T) {
	for name, then := range map[string]faults{
		"silence":       {cut: true},
		"no connection": {refuse: errors.New("connection refused")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, a, _, held := firstHolds(t)
				for what, call := range map[string]func(context.Context) error{
					"Lock":     func(ctx context.Context) error { return second(a.Mutex("n").Lock(ctx)) },
					"Release":  held.Release,
					"SetValue": func(ctx context.Context) error { return held.SetValue(ctx, "text") },
				} {
					if what == "SetValue" && held.Err() != nil {
						continue // it was released before
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					l.set(faults{refuse: errBusy})
					time.AfterFunc(time.Second/2, func() { l.set(then) })
					err := call(ctx)
					wantCause(t, what, err)
					if strings.Contains(err.Error(), "no answer") {
						t.Errorf("%s: %v", what, err)
					}
				}
			})
		})
	}
}
