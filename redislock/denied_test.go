package redislock

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/driver"
)

// A falling server ends the first script, whose user lacks a permission, and does not answer any more.
type falling struct {
	Conn
	asked atomic.Int32
}

func (*falling) Cluster() bool { return false }

func (f *falling) Do(ctx context.Context, _ Command) ([]string, error) {
	if f.asked.Add(1) == 1 {
		return nil, ReplyError("ACL failure in script: User locks has no permissions to run the 'publish' command")
	}
	return nil, errors.New("connection refused")
}

func (f *falling) DoMany(ctx context.Context, cmds []Command) []Reply {
	replies := make([]Reply, len(cmds))
	for i, cmd := range cmds {
		replies[i].Values, replies[i].Err = f.Do(ctx, cmd)
	}
	return replies
}

// A request that was ended half way, and could not be taken back, is not one that changed nothing.
func TestDeniedAndNotTakenBack(t *testing.T) {
	opts, err := (&Options{}).orDefault()
	if err != nil {
		t.Fatal(err)
	}
	d := newNative(&falling{}, opts)
	c := driver.Claim{Name: "jobs", ID: driver.NewID(), Weight: 1, Limit: 1, TTL: time.Minute}
	d.Do(t.Context(), []driver.Op{{Kind: driver.OpRequest, Claim: c}}, func(_ int, r driver.Result) { err = r.Err })
	var answer *driver.ServerError
	if err == nil || driver.IsAnswer(err) || !errors.As(err, &answer) {
		t.Errorf("got %v, and nobody would undo it", err)
	}
}
