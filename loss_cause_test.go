package holdfast_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
)

// errBusy is how a server says why it renews nothing.
var errBusy = &driver.ServerError{Effect: driver.NotNow, Words: "BUSY a script is running", Advice: "end the script"}

// Whatever tells of a loss has the error of the renewal that failed before, as text and for errors.As.
func TestLossNamesItsCause(t *testing.T) {
	for name, lose := range map[string]struct {
		how    func(t *testing.T, l *line, b *holdfast.Client, lease *holdfast.Lease)
		reason holdfast.LostReason
	}{
		"found out by the keeper": {func(*testing.T, *line, *holdfast.Client, *holdfast.Lease) {
			time.Sleep(ttl)
		}, holdfast.LostExpired},
		"after the server fell silent": {func(_ *testing.T, l *line, _ *holdfast.Client, _ *holdfast.Lease) {
			l.set(faults{cut: true})
			time.Sleep(ttl)
		}, holdfast.LostExpired},
		"found out by a look": {func(t *testing.T, _ *line, _ *holdfast.Client, lease *holdfast.Lease) {
			holdfast.Suspend(t, ttl)
		}, holdfast.LostExpired},
		"gone when the server is back": {func(t *testing.T, l *line, b *holdfast.Client, lease *holdfast.Lease) {
			if err := b.Break(t.Context(), "m", queued(t, b, "m")[0].ID); err != nil {
				t.Fatal(err)
			}
			l.set(faults{})
			time.Sleep(ttl / 4)
		}, holdfast.LostGone},
		"gone on release": {func(t *testing.T, l *line, b *holdfast.Client, lease *holdfast.Lease) {
			if err := b.Break(t.Context(), "m", queued(t, b, "m")[0].ID); err != nil {
				t.Fatal(err)
			}
			l.set(faults{})
			lease.Release(t.Context())
		}, holdfast.LostGone},
		"ended, and not told yet": {func(t *testing.T, _ *line, _ *holdfast.Client, lease *holdfast.Lease) {
			holdfast.EndHold(lease)
			lease.Release(t.Context())
		}, holdfast.LostExpired},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r recorder
				var log bytes.Buffer
				logger := slog.New(slog.NewTextHandler(&log, nil))
				l, a, b := twoClients(t, holdfast.WithObserver(&r), holdfast.WithLogger(logger))
				lease := must(a.Mutex("m").Lock(t.Context()))(t)
				l.set(faults{refuse: errBusy})
				time.Sleep(ttl / 2)
				lose.how(t, l, b, lease)

				told := map[string]error{"Release": lease.Release(t.Context())}
				if !strings.Contains(name, "release") && !strings.Contains(name, "not told") {
					told["Err"], told["Cause"] = lease.Err(), context.Cause(lease.Context())
					synctest.Wait()
					told["the observer"] = r.last().Err
				} else {
					synctest.Wait()
				}
				for what, err := range told {
					wantCause(t, what, err)
					wantErr(t, err, holdfast.ErrLost)
					if lost, ok := errors.AsType[*holdfast.LostError](err); !ok || lost.Reason != lose.reason {
						t.Errorf("%s: %v", what, err)
					}
				}
				lines := log.String()
				if !strings.Contains(lines, errBusy.Words) || !strings.Contains(lines, "ends_in=") {
					t.Errorf("the log does not say why, or when the lease ends:\n%s", lines)
				}
			})
		})
	}
}

func (r *recorder) last() holdfast.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events[len(r.events)-1]
}

// wantCause reports an error that does not lead to the server's words.
func wantCause(t *testing.T, what string, err error) {
	t.Helper()
	server, ok := errors.AsType[*driver.ServerError](err)
	if !ok || server != errBusy || !strings.Contains(err.Error(), errBusy.Words) {
		t.Errorf("%s does not name the cause: %v", what, err)
	}
}

// A renewal that succeeds ends what RenewalErr says.
func TestRenewalErrEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, _, lease := firstHolds(t)
		if err := lease.RenewalErr(); err != nil {
			t.Errorf("nothing has failed: %v", err)
		}
		l.set(faults{refuse: errBusy})
		time.Sleep(ttl / 2)
		wantCause(t, "in an outage", lease.RenewalErr())
		l.set(faults{})
		if err := lease.Check(t.Context()); err != nil || lease.RenewalErr() != nil {
			t.Errorf("checked, and so renewed: %v, %v", err, lease.RenewalErr())
		}
		l.set(faults{refuse: errBusy})
		time.Sleep(ttl / 2)
		l.set(faults{})
		time.Sleep(ttl / 4)
		if err := lease.RenewalErr(); err != nil {
			t.Errorf("after the outage: %v", err)
		}
	})
}

// A loss without a failed renewal says what is known: that one was not answered, or that none was sent.
func TestLossWithoutAnError(t *testing.T) {
	for name, row := range map[string]struct {
		lose func(t *testing.T, l *line)
		want string
	}{
		"silence": {func(t *testing.T, l *line) {
			l.set(faults{cut: true})
			time.Sleep(2 * ttl)
		}, "no answer within 2.5s: the server is busy or hangs, or the network is cut"},
		"silence before the first answer was due": {func(t *testing.T, l *line) {
			l.set(faults{cut: true})
			time.Sleep(ttl/3 + time.Second)
			holdfast.Suspend(t, ttl)
		}, "was not answered"},
		"a pause": {func(t *testing.T, l *line) { holdfast.Suspend(t, ttl) }, "was paused"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, _, _, lease := firstHolds(t)
				row.lose(t, l)
				err := lease.Err()
				wantErr(t, err, holdfast.ErrLost)
				if err == nil || !strings.Contains(err.Error(), row.want) {
					t.Errorf("%v does not say %q", err, row.want)
				}
			})
		})
	}
}
