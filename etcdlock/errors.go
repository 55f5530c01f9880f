package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/holdfast-go/holdfast/driver"
)

// explain says what the server answered and what that means: see [driver.ServerError].
func explain(err error) error {
	var known *driver.ServerError
	if err == nil || errors.As(err, &known) || errors.Is(err, driver.ErrRefused) {
		return err
	}
	if code(err) == codes.ResourceExhausted && strings.Contains(err.Error(), unsendable) {
		return fmt.Errorf("%w: %w; %s", driver.ErrRefused, err, shorten)
	}
	if server := serverError(err); server != nil {
		return server
	}
	return err
}

// unsendable is what gRPC says of a request that is longer than a client sends: 2 MiB, unless it was set up otherwise.
const unsendable = "trying to send message larger than max"

func answersGone(err error) bool { return errors.Is(err, driver.ErrGone) }

// pause waits between two attempts.
func pause(ctx context.Context) error { return driver.Pause(ctx, 100*time.Millisecond) }

// memberAnswered reports whether a member has answered, if only with a refusal: any other would answer the same.
func memberAnswered(err error) bool {
	switch {
	case err == nil, errors.Is(err, rpctypes.ErrCorrupt):
		return true
	case errors.Is(err, rpctypes.ErrNotLeader), errors.Is(err, rpctypes.ErrNotCapable),
		errors.Is(err, rpctypes.ErrTooManyRequests),
		saidBy(err) == learner:
		return false
	}
	switch code(err) {
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded,
		codes.Aborted, codes.Internal, codes.DataLoss, codes.Unknown:
		return false
	default:
		return true
	}
}

// electing reports whether a member could not answer for want of a leader, which the members elect within seconds.
func electing(err error) bool {
	return errors.Is(err, rpctypes.ErrNoLeader) || errors.Is(err, rpctypes.ErrLeaderChanged) ||
		errors.Is(err, rpctypes.ErrTimeoutDueToLeaderFail) || errors.Is(err, rpctypes.ErrTimeoutDueToConnectionLost)
}

// tokenEnded reports whether a watch was refused because the token that its stream began with has ended: a new stream
// gets a new one.
func tokenEnded(reason string) bool {
	return slices.ContainsFunc([]error{
		rpctypes.ErrGRPCInvalidAuthToken, rpctypes.ErrGRPCAuthOldRevision, rpctypes.ErrGRPCUserEmpty,
	}, func(err error) bool { return strings.Contains(reason, rpctypes.ErrorDesc(err)) })
}

// learner is what a member says that does not vote yet.
var learner = status.Convert(rpctypes.ErrGRPCNotSupportedForLearner).Message()

// isUnknown reports whether nobody knows what an error means.
func isUnknown(err error) bool { return err != nil && code(err) == codes.Unknown }

func code(err error) codes.Code {
	var ofServer rpctypes.EtcdError
	switch {
	case errors.As(err, &ofServer):
		return ofServer.Code()
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	default:
		return status.Code(err)
	}
}
