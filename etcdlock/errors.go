package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/holdfast-go/holdfast/driver"
)

var errClosed = errors.New("the etcd driver is closed")

// refusals are errors of the server after which nothing was changed and asking again does not help, with what to do.
var refusals = []struct {
	err    error
	advice string
}{
	{rpctypes.ErrPermissionDenied, "grant the user's role read and write permission on the prefix"},
	{rpctypes.ErrAuthFailed, "check the user and the password"},
	{rpctypes.ErrUserEmpty, "authentication is on; give a user and a password"},
	{rpctypes.ErrNoSpace, "compact and defragment the store, then disarm its alarm: etcdctl alarm disarm"},
	{rpctypes.ErrRequestTooLarge, "give the claim a shorter owner and value"},
	{rpctypes.ErrLeaseTTLTooLarge, "use a shorter TTL"},
	{rpctypes.ErrTooManyOps, "start etcd with --max-txn-ops 128, its default, or more"},
}

// explain tells refusals from errors after which the outcome is unknown.
func explain(err error) error {
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			return fmt.Errorf("%w: %w; %s", driver.ErrRefused, err, r.advice)
		}
	}
	return err
}

func answersGone(err error) bool { return errors.Is(err, driver.ErrGone) }

// pause waits between two attempts, never in step with other clients.
func pause(ctx context.Context) error {
	return driver.Sleep(ctx, 50*time.Millisecond+rand.N(50*time.Millisecond))
}
