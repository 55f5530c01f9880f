package quorum_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/batch"
)

// sick returns a node that answers every request with an error.
func sick(p *part, err error) driver.Driver {
	return batch.Intercept(p, func(_ context.Context, op driver.Op, pass passOn) driver.Result {
		if op.Kind == driver.OpRequest || op.Kind == driver.OpPropose {
			return driver.Result{Err: err}
		}
		return pass(op)
	})
}

// An answer of several nodes is told once. The words of a server are found by errors.As, and decide nothing: another
// node may have done what it was asked for.
func TestOneCauseOfSeveralNodes(t *testing.T) {
	busy := &driver.ServerError{Effect: driver.NotNow, Words: "BUSY a script is running", Advice: "end it"}
	inTime(t, 3, func(t *testing.T, ps parts) {
		nodes := make([]driver.Driver, len(ps))
		for i, p := range ps {
			nodes[i] = sick(p, busy)
		}
		_, err := quorumOf(t, nodes, nil).Request(context.Background(), try(claim("jobs")))
		if err == nil || strings.Count(err.Error(), "BUSY") != 1 {
			t.Errorf("got %v, want that it names the cause once", err)
		}
		got, ok := errors.AsType[*driver.ServerError](err)
		if !ok || got.Words != busy.Words || got.Advice != busy.Advice || got.Effect != driver.MayHaveHappened {
			t.Errorf("errors.As finds %+v", got)
		}
		if errors.Is(err, driver.ErrUnsent) || errors.Is(err, driver.ErrRefused) {
			t.Errorf("%v: what one node answers is not the answer of all", err)
		}
	})
}
