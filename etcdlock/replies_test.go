package etcdlock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/etcdlock"
)

// behindFront opens a driver behind a front, and lets it learn what it asks once.
func behindFront(t *testing.T) (*front, *etcdlock.Driver) {
	t.Helper()
	f := newFront(t, server(t).Addr)
	d := open(t, nil, f.addr)
	release(t, d, acquire(t, d, claim("first", long)))
	return f, d
}

// answered fails unless an error is the server's, with these words, and has this effect.
func answered(t *testing.T, err error, effect driver.Effect, words string) {
	t.Helper()
	var server *driver.ServerError
	if !errors.As(err, &server) || server.Effect != effect || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v (%+v), want effect %v and %q", err, server, effect, words)
	}
	for effect, is := range map[driver.Effect]error{
		driver.Refused: driver.ErrRefused, driver.NotNow: driver.ErrUnsent,
	} {
		if server != nil && errors.Is(err, is) != (server.Effect == effect) {
			t.Errorf("%v matches what its effect, %v, does not say", err, server.Effect)
		}
	}
}

// A refusal is passed on in the server's words, and the server is not asked again.
func TestRefusedInTheServersWords(t *testing.T) {
	t.Parallel()
	f, d := behindFront(t)
	for _, said := range []error{
		status.Error(codes.InvalidArgument, "etcdserver: unsupported operations in txn request"), // kine
		status.Error(codes.Unimplemented, "unknown method Txn"),
		status.Error(codes.Unknown, "unsupported transaction: compare"), // an older kine
		rpctypes.ErrGRPCNotSupportedForLearner,
		rpctypes.ErrGRPCCorrupt,
		status.Error(codes.PermissionDenied, "by a proxy"),
	} {
		f.refuse(false, said, "KV/Txn")
		_, err := d.Request(limit(t), claim("job", long))
		answered(t, err, driver.Refused, status.Convert(said).Message())
		if n := f.count("KV/Txn"); n != 1 {
			t.Errorf("%v: the server was asked %d times", said, n)
		}
	}
	f.answer(nil)
	release(t, d, acquire(t, d, claim("job", long)))
}

// A request that a server cannot do now has no effect, and may be sent again.
func TestNotNow(t *testing.T) {
	t.Parallel()
	f, d := behindFront(t)
	c := claim("job", long)
	f.refuse(false, rpctypes.ErrGRPCRequestTooManyRequests, "KV/Txn")
	_, err := d.Request(limit(t), c)
	answered(t, err, driver.NotNow, "too many requests")
	f.answer(nil)
	c, _ = request(t, d, c)

	f.refuse(false, rpctypes.ErrGRPCRequestTooManyRequests, "KV/Txn")
	_, err = d.Request(limit(t), c)
	answered(t, err, driver.MayHaveHappened, "too many requests") // a claim that is there is not without effect
	f.answer(nil)
	release(t, d, c)
}

// An answer that may come after the effect leaves the outcome open, in the server's words: the claim is found again.
func TestAnswerAfterTheEffect(t *testing.T) {
	t.Parallel()
	f, d := behindFront(t)
	for _, said := range []error{
		rpctypes.ErrGRPCTimeout, rpctypes.ErrGRPCTimeoutDueToLeaderFail, rpctypes.ErrGRPCTimeoutWaitAppliedIndex,
		rpctypes.ErrGRPCLeaderChanged, rpctypes.ErrGRPCNoLeader, rpctypes.ErrGRPCStopped,
		status.Error(codes.Unknown, "something new"), status.Error(codes.FailedPrecondition, "something else"),
		status.Error(codes.Unavailable, "unexpected HTTP status code received from server: 502 (Bad Gateway)"),
	} {
		c := claim("job", long)
		f.refuse(true, said, "KV/Txn")
		_, err := d.Request(limit(t), c)
		answered(t, err, driver.MayHaveHappened, status.Convert(said).Message())
		f.answer(nil)
		if queue, err := d.Queue(limit(t), "job"); err != nil || len(queue) != 1 {
			t.Fatalf("the queue is %+v, %v; want the claim", queue, err)
		}
		c, _ = request(t, d, c)
		release(t, d, c)
	}
}

// A store that fills up while a request is on its way does what it refuses. The claim leaves the queue again, though
// its client renews another one on the same lease.
func TestRefusedAfterTheEffect(t *testing.T) {
	t.Parallel()
	f, d := behindFront(t)
	const ttl = 2 * time.Second
	keepRenewing(t, d, acquire(t, d, claim("beside", ttl)))
	f.answer(func(c *call) ([]byte, error) {
		answer, err := c.forward()
		if c.method == "KV/Txn" && strings.Contains(string(c.request), "/job/") && err == nil {
			f.answer(nil)
			return nil, rpctypes.ErrGRPCNoSpace
		}
		return answer, err
	})
	_, err := d.Request(limit(t), claim("job", ttl))
	answered(t, err, driver.Refused, "database space exceeded")
	queue, err := d.Queue(limit(t), "job")
	if err != nil || len(queue) > 0 {
		t.Errorf("the queue is %+v, %v; want none", queue, err)
	}
}
