package etcdlock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/holdfast-go/holdfast/internal/bubble"
)

// slow is a member that takes its time over passwords.
type slow struct {
	pb.AuthClient
	takes time.Duration
	asked *atomic.Int64
}

func (s slow) Authenticate(
	ctx context.Context, _ *pb.AuthenticateRequest, _ ...grpc.CallOption,
) (*pb.AuthenticateResponse, error) {
	s.asked.Add(1)
	select {
	case <-time.After(s.takes):
		return &pb.AuthenticateResponse{Token: "a token"}, nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

// Many who want a token ask each member for one at most, whoever of them leaves. Those who begin streams share it for a
// while, unless it is refused.
func TestTokensAreShared(t *testing.T) {
	defer bubble.Alone()()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		d := &Driver{members: &members{}}
		d.lifetime, d.end = context.WithCancel(t.Context())
		for _, takes := range []time.Duration{time.Hour, 4 * time.Second, 4 * time.Second} {
			d.members.list = append(d.members.list, &member{auth: slow{takes: takes, asked: &asked}})
		}
		first := d.members.list[0]
		d.members.current = first
		a := &authenticator{d: d}
		ask := func(ctx context.Context) error {
			_, err := a.Authenticate(ctx, "app", "secret")
			return err
		}
		var all sync.WaitGroup
		for i := range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%2*9)*time.Second)
			defer cancel()
			all.Go(func() {
				if err, leaves := ask(ctx), i%2 == 0; leaves != errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("leaves: %t, told: %v", leaves, err)
				}
			})
		}
		all.Wait()
		stream := context.WithValue(t.Context(), impatienceKey{}, time.NewTimer(time.Hour))
		for _, row := range []struct {
			ctx   context.Context
			after error
			asked int64
		}{
			{stream, nil, 3},
			{stream, rpctypes.ErrInvalidAuthToken, 6},
			{t.Context(), nil, 9},
		} {
			if a.forget(row.after); ask(row.ctx) != nil || asked.Load() != row.asked {
				t.Errorf("members were asked %d times, want %d", asked.Load(), row.asked)
			}
		}
		if d.members.current != first {
			t.Error("a member is avoided that takes long")
		}
		d.end()
		d.running.Wait()
	})
}

// A question that is under way when the driver is closed ends, also where a member has not been asked yet.
func TestCloseWhileATokenIsAskedFor(t *testing.T) {
	defer bubble.Alone()()
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []time.Duration{0, silence / 2, 2 * silence} {
			d := &Driver{members: &members{}}
			d.lifetime, d.end = context.WithCancel(t.Context())
			for range 2 {
				d.members.list = append(d.members.list, &member{auth: slow{takes: time.Hour, asked: new(atomic.Int64)}})
			}
			d.members.current = d.members.list[0]
			time.AfterFunc(after, d.end)
			if _, err := (&authenticator{d: d}).Authenticate(t.Context(), "app", "secret"); err == nil {
				t.Error("a token came from nowhere")
			}
			d.running.Wait() // or the test is stuck
		}
	})
}

// leaderless is a member that refuses until it knows a leader.
type leaderless struct {
	pb.AuthClient
	until time.Time
}

func (l leaderless) Authenticate(
	context.Context, *pb.AuthenticateRequest, ...grpc.CallOption,
) (*pb.AuthenticateResponse, error) {
	if time.Now().Before(l.until) {
		return nil, rpctypes.ErrGRPCNoLeader
	}
	return &pb.AuthenticateResponse{Token: "a token"}, nil
}

// Where the leader hangs, the others refuse until they have elected another one. Nobody waits for the hung one then.
func TestTokenDuringAnElection(t *testing.T) {
	defer bubble.Alone()()
	synctest.Test(t, func(t *testing.T) {
		d, elected := &Driver{members: &members{}}, time.Now().Add(2*time.Second)
		d.lifetime, d.end = context.WithCancel(t.Context())
		hung := slow{takes: time.Hour, asked: new(atomic.Int64)}
		for _, c := range []pb.AuthClient{leaderless{until: elected}, hung, leaderless{until: elected}} {
			d.members.list = append(d.members.list, &member{auth: c})
		}
		d.members.current = d.members.list[0]
		a := &authenticator{d: d}
		_, err := a.Authenticate(t.Context(), "app", "secret")
		if took := time.Since(elected); err != nil || took > time.Second {
			t.Errorf("%v, %v after the election", err, took)
		}
		d.end()
		d.running.Wait()
	})
}
