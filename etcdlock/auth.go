package etcdlock

import (
	"context"
	"errors"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/internal/leased"
)

// An authenticator asks for tokens where everything is asked. The client's own goes round all members, and so comes
// again and again to one that hangs; and the one that is asked next may not know yet what another has just given out.
//
// Servers take their time over passwords: many requests ask one question together, which goes on when those who
// asked it have left.
type authenticator struct {
	clientv3.Auth
	d *Driver

	mu     sync.Mutex
	newest *tokenQuestion // nil before the first
}

// A tokenQuestion is one for a token.
type tokenQuestion struct {
	done   chan struct{} // closed when the rest is valid
	answer *clientv3.AuthenticateResponse
	err    error
	at     time.Time // when it was answered
}

// isFresh reports whether an answer is a token that a stream may begin with.
func (q *tokenQuestion) isFresh() bool { return q.err == nil && time.Since(q.at) < tokenFresh }

const (
	// tokenTime is how long members may take over a password.
	tokenTime = 30 * time.Second

	// tokenFresh is for how long streams begin with a token that is there, unless a server refuses it. Other requests
	// want one because theirs was refused.
	tokenFresh = 5 * time.Second
)

// Authenticate returns a token, as [clientv3.Auth] says. A stream that is to begin with it is not late meanwhile.
func (a *authenticator) Authenticate(
	ctx context.Context, name, password string,
) (*clientv3.AuthenticateResponse, error) {
	impatience, isStream := ctx.Value(impatienceKey{}).(*time.Timer)
	if isStream && impatience.Stop() {
		defer impatience.Reset(silence)
	}
	q := a.ask(&pb.AuthenticateRequest{Name: name, Password: password}, isStream)
	select {
	case <-q.done:
		return q.answer, q.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask returns the question that is under way, or begins one. For a stream, one that was answered a moment ago will do.
func (a *authenticator) ask(request *pb.AuthenticateRequest, isStream bool) *tokenQuestion {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q := a.newest; q != nil && (!leased.IsClosed(q.done) || isStream && q.isFresh()) {
		return q
	}
	q := &tokenQuestion{done: make(chan struct{})}
	a.newest = q
	a.d.running.Go(func() {
		defer close(q.done)
		q.answer, q.err = a.askMembers(request)
		q.at = time.Now()
	})
	return q
}

// A tokenAnswer is what a member answered.
type tokenAnswer struct {
	token *pb.AuthenticateResponse
	err   error
}

// askMembers asks the member that everything is asked, and the others one after the other while none answers. None is
// avoided for taking long.
func (a *authenticator) askMembers(request *pb.AuthenticateRequest) (*clientv3.AuthenticateResponse, error) {
	ctx, cancel := context.WithTimeout(clientv3.WithRequireLeader(a.d.lifetime), tokenTime)
	defer cancel()
	order := a.d.members.inOrder()
	answers := make(chan tokenAnswer, 2*len(order)) // a failure, and an answer
	var failed error
	for asked, heard := 0, 0; heard < len(order); {
		if asked < len(order) {
			m := order[asked]
			a.d.running.Go(func() { m.authenticate(ctx, request, answers) })
			asked++
		}
		next := time.After(silence)
		if asked == len(order) {
			next = nil
		}
		select {
		case got := <-answers:
			heard++
			if memberAnswered(got.err) {
				return (*clientv3.AuthenticateResponse)(got.token), got.err
			}
			failed = errors.Join(failed, got.err)
		case <-next:
		}
	}
	return nil, failed
}

// authenticate tells a failure once, and goes on to ask until the member answers: one that knows no leader does so as
// soon as there is one, and another may hang for much longer.
func (m *member) authenticate(ctx context.Context, request *pb.AuthenticateRequest, answers chan<- tokenAnswer) {
	for told := false; ; told = true {
		token, err := m.auth.Authenticate(ctx, request)
		err = rpctypes.Error(err)
		answered := memberAnswered(err)
		if answered || !told {
			answers <- tokenAnswer{token, err}
		}
		if answered || pause(ctx) != nil {
			return
		}
	}
}

// forget has the next stream ask for a token, if err says that one was refused, and reports that.
func (a *authenticator) forget(err error) (refused bool) {
	if a == nil || err == nil || !tokenEnded(err.Error()) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if q := a.newest; q != nil && leased.IsClosed(q.done) {
		a.newest = nil
	}
	return true
}

// authenticate has the driver's own client, which nobody uses yet, get its tokens so.
func (d *Driver) authenticate() {
	if d.client.Username != "" {
		d.tokens = &authenticator{Auth: d.client.Auth, d: d}
		d.client.Auth = d.tokens
	}
}
