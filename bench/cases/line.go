package cases

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-go/holdfast/bench/contender"
)

// A Line describes clients that stand in line for one lock. Whoever lets go joins again once another client holds the
// lock: so it passes on every time, and as many wait at each hand-off as at every other.
type Line struct {
	Waiting int           // clients that wait when the lock is passed on
	Hold    time.Duration // for how long each holds it
	Passes  int           // hand-offs to measure
	Limit   time.Duration // for all of them; who is slower is measured on fewer
	Turns   bool          // measure once everybody has had the lock; Limit bounds that, too
}

// settle is how long the lock is passed on before that is measured, so that all clients stand in line: there is no
// event to wait for that all contenders have in common.
const settle = 300 * time.Millisecond

// run lets clients stand in line, each with connections of its own, while fn looks at the baton they pass on.
func (l Line) run(ctx context.Context, c contender.Contender, addr string,
	fn func(context.Context, *baton) error) error {
	return l.withClients(ctx, c, addr, func(clients []contender.Client) error { return l.stand(ctx, clients, fn) })
}

// withClients runs fn with as many clients as stand in line, the holder included, each with connections of its own.
func (l Line) withClients(ctx context.Context, c contender.Contender, addr string,
	fn func([]contender.Client) error) error {
	clients, err := openAll(ctx, c, addr, l.Waiting+1)
	if err == nil {
		err = useAll(ctx, clients)
	}
	if err == nil {
		err = fn(clients)
	}
	return errors.Join(err, closeAll(clients))
}

func (l Line) stand(ctx context.Context, clients []contender.Client, fn func(context.Context, *baton) error) error {
	var b baton
	name := freshName()
	standing, leave := context.WithCancel(ctx)
	defer leave()
	group, standing := errgroup.WithContext(standing)
	for _, client := range clients {
		group.Go(func() error {
			err := l.takeTurns(standing, client, name, &b)
			if standing.Err() != nil && !errors.Is(err, errTwoHolders) {
				return nil // told to leave
			}
			return err
		})
	}
	pause(standing, settle)
	if l.Turns {
		l.awaitTurns(standing, &b)
	}
	err := fn(standing, &b)
	leave()
	return errors.Join(err, group.Wait())
}

// awaitTurns returns once the lock was passed to everybody in line, who has opened all connections by then.
func (l Line) awaitTurns(ctx context.Context, b *baton) {
	limited, cancel := context.WithTimeout(ctx, l.Limit)
	defer cancel()
	b.reach(limited, l.Waiting+1)
}

// takeTurns takes the lock, holds it and passes it on, until ctx ends.
func (l Line) takeTurns(ctx context.Context, client contender.Client, name string, b *baton) error {
	for ctx.Err() == nil {
		next, err := l.takeTurn(ctx, client, name, b)
		if err != nil {
			return err
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// takeTurn does that once. The channel is closed when the next holder has the lock.
func (l Line) takeTurn(ctx context.Context, client contender.Client, name string, b *baton) (next <-chan struct{},
	err error) {
	held, err := client.Lock(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := b.take(); err != nil {
		return nil, err
	}
	pause(ctx, l.Hold)
	next = b.pass()
	return next, held.Unlock(context.WithoutCancel(ctx))
}

// pause lets time pass, as a holder's work would.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// openAll opens clients, and returns those that it could open.
func openAll(ctx context.Context, c contender.Contender, addr string, n int) (clients []contender.Client, err error) {
	for range n {
		client, err := c.Open(ctx, addr)
		if err != nil {
			return clients, err
		}
		clients = append(clients, client)
	}
	return clients, nil
}

// useAll has each client take a lock of its own once, so that all are connected in every way they need.
func useAll(ctx context.Context, clients []contender.Client) error {
	for _, client := range clients {
		if err := cycle(ctx, client, freshName()); err != nil {
			return err
		}
	}
	return nil
}

func closeAll(clients []contender.Client) error {
	errs := make([]error, len(clients))
	var wg sync.WaitGroup
	for i, client := range clients {
		wg.Go(func() { errs[i] = client.Close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
