package drivertest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

var valueRows = []row{
	{
		name: "value stays",
		why:  "what a holder sets stays with the lock after it, for everybody, until a holder sets something else",
		run: func(e *env) {
			e.hasValue(driver.Value{})
			c, next := e.claim(), e.claim()
			held := e.acquire(e.d, c)
			first := valueOf(held, "a\x00\xff 'text'", 1)
			e.sets(renewal(c, held), first)
			e.hasValue(first)
			e.release(e.d, c, held)
			e.hasValue(first)

			held = e.acquire(e.other, next)
			e.hasValue(first)
			second := valueOf(held, strings.Repeat("long ", driver.MaxValue/5), 1)
			e.sets(renewal(next, held), second)
			e.release(e.other, next, held)
			e.hasValue(second)
		},
		needs: does(driver.OpValue),
	},
	{
		name: "value of each lock",
		why:  "a value belongs to one lock",
		run: func(e *env) {
			c, held := e.hold(e.claim())
			v := valueOf(held, "here", 1)
			e.sets(renewal(c, held), v)
			e.with(e.name + "/other").hasValue(driver.Value{})
			e.release(e.d, c, held)
		},
		needs: does(driver.OpValue),
	},
	{
		name: "value removed",
		why:  "an empty text removes the value, and a late copy of an earlier request does not bring it back",
		run: func(e *env) {
			c, held := e.hold(e.claim())
			e.sets(renewal(c, held), valueOf(held, "first", 1))
			e.sets(renewal(c, held), valueOf(held, "", 2))
			e.hasValue(driver.Value{})
			e.refusesValue(renewal(c, held), valueOf(held, "first", 1))
			e.hasValue(driver.Value{})
			e.release(e.d, c, held)
			e.hasValue(driver.Value{})
		},
		needs: does(driver.OpValue),
	},
	{
		name: "value of the holder alone",
		why:  "ErrGone tells that the claim waits, has another token, has ended, or never was; nothing is set then",
		run: func(e *env) {
			holder, held, next, waiting := e.contest()
			waiting.Token = max(waiting.Token, held.Token+1) // a driver may make tokens when it grants
			e.isGone(e.setErr(renewal(next, waiting), valueOf(waiting, "waits", 1)), "setting a value while waiting")
			other := driver.Status{Token: held.Token + 1}
			e.isGone(e.setErr(renewal(holder, other), valueOf(other, "token", 1)), "setting a value by another token")
			e.release(e.other, next, driver.Status{}) // what was asked for it may still come
			e.release(e.d, holder, held)
			e.isGone(e.setErr(renewal(holder, held), valueOf(held, "late", 1)), "setting a value after the release")
			e.isGone(e.setErr(renewal(e.claim(), held), valueOf(held, "never", 1)), "setting a value for no claim")
			e.hasValue(driver.Value{})
		},
		needs: does(driver.OpValue),
	},
	{
		name: "value after expiry",
		why:  "who has expired sets nothing, even if nobody else came",
		run: func(e *env) {
			c, held := e.hold(e.short(e.claim()))
			var kept driver.Value
			e.eventually("the claim expires", func() bool {
				v := valueOf(held, "still here", time.Now().UnixMicro())
				err := e.setErr(renewal(c, held), v)
				if err == nil {
					kept = v
				}
				return errors.Is(err, driver.ErrGone)
			})
			e.hasValue(kept)
		},
		needs: does(driver.OpValue),
		exact: true,
	},
	{
		name: "values in order",
		why:  "a value that was set before the one that is kept changes nothing, though its request comes late",
		run: func(e *env) {
			c, held := e.hold(e.claim())
			first, second := valueOf(held, "first", 1), valueOf(held, "second", 2)
			e.sets(renewal(c, held), second)
			e.refusesValue(renewal(c, held), first)
			e.sets(renewal(c, held), second) // again: its answer may have been lost
			e.hasValue(second)
			handedOn := second // within the client, under the same claim
			handedOn.Token, handedOn.Set, handedOn.Text = second.Token+1, first.Set, "handed on"
			e.sets(renewal(c, held), handedOn)
			e.hasValue(handedOn)
			e.release(e.d, c, held)
		},
		needs: does(driver.OpValue),
	},
	{
		name: "value too long",
		why:  "a value of more than MaxValue bytes is refused, and the one before stays",
		run: func(e *env) {
			c, held := e.hold(e.claim())
			v := valueOf(held, "short", 1)
			e.sets(renewal(c, held), v)
			e.refusesValue(renewal(c, held), valueOf(held, strings.Repeat("x", driver.MaxValue+1), 2))
			e.hasValue(v)
			e.release(e.d, c, held)
		},
		needs: does(driver.OpValue),
	},
}

// valueOf is what the holder of a claim sets for the nth time.
func valueOf(st driver.Status, text string, n int64) driver.Value {
	return driver.Value{Text: text, Token: st.Token << 8, Set: time.UnixMicro(1_700_000_000_000_000 + n).UTC()}
}

// setErr sets a value and returns the answer.
func (e *env) setErr(c driver.Claim, v driver.Value) error {
	e.Helper()
	_, err := e.insist(func(ctx context.Context) error { return e.d.SetValue(ctx, c, v) })
	return err
}

// sets sets a value, which must succeed.
func (e *env) sets(c driver.Claim, v driver.Value) {
	e.Helper()
	if err := e.setErr(c, v); err != nil {
		e.Fatalf("SetValue(%.20q): %v", v.Text, err)
	}
}

// refusesValue fails unless setting a value is refused.
func (e *env) refusesValue(c driver.Claim, v driver.Value) {
	e.Helper()
	if err := e.setErr(c, v); !errors.Is(err, driver.ErrRefused) {
		e.Errorf("SetValue(%.20q): got error %v, want ErrRefused", v.Text, err)
	}
}

// hasValue fails unless this is what everybody reads.
func (e *env) hasValue(want driver.Value) {
	e.Helper()
	for _, d := range []*Facade{e.d, e.other} {
		v, _, err := persist(e, func(ctx context.Context) (driver.Value, error) {
			return d.Value(ctx, e.name)
		})
		if err != nil || v.Text != want.Text || v.Token != want.Token || !v.Set.Equal(want.Set) {
			e.Errorf("the value is %.20q of %d, %v (error %v), want %.20q of %d, %v",
				v.Text, v.Token, v.Set, err, want.Text, want.Token, want.Set)
		}
	}
}
