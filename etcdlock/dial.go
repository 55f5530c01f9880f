package etcdlock

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/holdfast-go/holdfast/driver"
)

// dial makes a client. With a password that means asking a server for a token, for as long as the dial timeout: while
// none answers, the servers are asked one after the other, each by a client that knows only this one.
func dial(ctx context.Context, config clientv3.Config) (*clientv3.Client, error) {
	if config.Username == "" {
		return clientv3.New(config)
	}
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	answers := make(chan dialled, len(config.Endpoints))
	order, open := rand.Perm(len(config.Endpoints)), 0
	defer func() { go closeLate(answers, open) }() // nobody is made to wait for them
	var failed error
	for asked := 0; asked < len(order) || open > 0; {
		var next <-chan time.Time
		if asked < len(order) {
			one := config
			one.Endpoints = []string{config.Endpoints[order[asked]]}
			go func() { answers <- newClient(ctx, one) }()
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
			failed = errors.Join(failed, a.err)
		case <-next:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, failed
}

// A dialled is what came of making a client.
type dialled struct {
	client *clientv3.Client
	err    error
}

// newClient makes one for a member, which is asked again while it says that a leader is being elected.
func newClient(ctx context.Context, config clientv3.Config) (d dialled) {
	for until := time.Now().Add(config.DialTimeout); ; {
		d.client, d.err = clientv3.New(config)
		if !electing(d.err) || time.Now().After(until) || driver.Pause(ctx, silence) != nil {
			return d
		}
	}
}

// closeLate closes so many clients that are still being made.
func closeLate(answers <-chan dialled, open int) {
	for range open {
		if d := <-answers; d.err == nil {
			d.client.Close()
		}
	}
}
