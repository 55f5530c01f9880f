package etcdlock

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// dial makes a client. With a password that means asking a server for a token: while none answers, the servers are
// asked one after the other, each by a client that knows only this one. No other client is left when dial returns.
func dial(ctx context.Context, config clientv3.Config) (*clientv3.Client, error) {
	if config.Username == "" {
		return clientv3.New(config)
	}
	within, enough := context.WithCancel(ctx)
	answers := make(chan dialled, len(config.Endpoints))
	order, open := rand.Perm(len(config.Endpoints)), 0
	defer func() {
		enough()
		closeAllOf(answers, open)
	}()
	var failed error
	for asked := 0; asked < len(order) && ctx.Err() == nil || open > 0; {
		var next <-chan time.Time
		if asked < len(order) && ctx.Err() == nil {
			one := config
			one.Endpoints = []string{config.Endpoints[order[asked]]}
			go func() { answers <- newClient(within, one) }()
			asked, open, next = asked+1, open+1, time.After(silence)
		}
		select {
		case a := <-answers:
			open--
			if a.err == nil {
				a.client.SetEndpoints(config.Endpoints...)
			}
			if memberAnswered(a.err) {
				return a.client, a.err
			}
			failed = moreTelling(failed, a.err)
		case <-next:
		}
	}
	if ctx.Err() != nil && (failed == nil || isTimeUp(failed)) {
		failed = ctx.Err()
	}
	return nil, failed
}

// moreTelling returns the one of two errors that says why nobody answered. Members that are cut off for one reason are
// not listed one by one.
func moreTelling(a, b error) error {
	var reason *unreachable
	if a != nil && (isTimeUp(b) || errors.As(a, &reason) && !isAboutTLS(b)) {
		return a
	}
	return b
}

// isTimeUp reports whether an error says no more than that the time was up.
func isTimeUp(err error) bool {
	var reason *unreachable
	return !errors.As(err, &reason) &&
		(errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled))
}

// A dialled is what came of making a client.
type dialled struct {
	client *clientv3.Client
	err    error
}

// newClient makes one for a member, which is asked again while it says that a leader is being elected.
func newClient(ctx context.Context, config clientv3.Config) (d dialled) {
	for until := time.Now().Add(config.DialTimeout); ; {
		d.client, d.err = newClientWithin(ctx, config)
		if !electing(d.err) || time.Now().After(until) || driver.Pause(ctx, silence) != nil {
			return d
		}
	}
}

// newClientWithin makes a client, or gives up when ctx ends. The client lives on when ctx ends later.
func newClientWithin(ctx context.Context, config clientv3.Config) (*clientv3.Client, error) {
	lifetime, end := context.WithCancel(context.Background())
	config.Context = lifetime
	stop := context.AfterFunc(ctx, end)
	client, err := clientv3.New(config)
	switch {
	case err != nil:
		end()
		return nil, err
	case !stop():
		client.Close()
		return nil, ctx.Err()
	}
	context.AfterFunc(client.Ctx(), end) // when the client is closed
	return client, nil
}

// closeAllOf closes so many clients that are still being made. It does not take long once their context has ended.
func closeAllOf(answers <-chan dialled, open int) {
	for range open {
		if d := <-answers; d.err == nil {
			d.client.Close()
		}
	}
}
