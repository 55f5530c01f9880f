package batch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// An unused driver must not be called.
type unused struct{ t *testing.T }

func (unused) Traits() driver.Traits               { return driver.Traits{} }
func (unused) Subscribe(func(driver.Event)) func() { return func() {} }
func (unused) Close() error                        { return nil }

func (d unused) Do(context.Context, []driver.Op, func(int, driver.Result)) { d.t.Error("it is called") }

// An operation of which a part was done is not unsent, also if it is given up between its two attempts.
func TestGivenUpAfterAPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(unused{t}, nil)
		op := driver.Op{Kind: driver.OpRelease, Claim: driver.Claim{ID: "a"}}
		c := s.newCall(t.Context(), &op, s.lane(s.laneKey(&op, time.Second)), time.Second, s.now())
		s.mu.Lock()
		s.claims.add(c)
		c.partly = true
		s.hurry(c)
		s.abandon(c, context.Canceled)
		s.unlock()
		synctest.Wait()
		if err := c.answer.Err; !errors.Is(err, context.Canceled) || errors.Is(err, driver.ErrUnsent) {
			t.Errorf("the error is %v", err)
		}
		if n := s.claims.taken(); n != 0 {
			t.Error("the claim is not free")
		}
	})
}
