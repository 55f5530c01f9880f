package driver_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// op returns an operation on a claim that waits for the whole lock m.
func op(kind driver.Kind, id string) driver.Op {
	return driver.Op{Kind: kind, Claim: driver.Claim{
		Name: "m", ID: id, Weight: 1, Limit: 1, TTL: time.Minute, Queue: true,
	}}
}

// An operation that is slow, or panics, holds back no other answer of its batch.
func TestDoEachAnswersOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ops := []driver.Op{op(driver.OpRequest, "slow"), op(driver.OpRequest, "falls"), op(driver.OpRequest, "quick")}
		answered := make(chan string, len(ops))
		fell := make(chan any)
		go func() {
			defer func() { fell <- recover() }()
			done := func(i int, _ driver.Result) { answered <- ops[i].Claim.ID }
			driver.DoEach(ops, done, func(o driver.Op) driver.Result {
				switch o.Claim.ID {
				case "slow":
					time.Sleep(time.Hour)
				case "falls":
					panic("it fell")
				}
				return driver.Result{}
			})
		}()
		synctest.Wait()
		if len(answered) != 1 || <-answered != "quick" {
			t.Error("the quick operation has no answer yet")
		}
		if p, _ := (<-fell).(error); p == nil || !strings.HasPrefix(p.Error(), "it fell") {
			t.Errorf("the caller of Do got %v", p)
		}
		if len(answered) != 1 || <-answered != "slow" {
			t.Error("the slow operation has no answer")
		}
	})
}
