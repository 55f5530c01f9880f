package contender

import (
	"context"
	"errors"
	"strings"
)

// RawRedlock is the limit on several servers: the two requests of [Raw] to each of them at once, waiting for a
// majority.
func RawRedlock() Contender {
	c := Raw()
	c.Note = "SET NX PX, then compare-and-delete with EVALSHA, to all servers at once; the answers of a majority are " +
		"waited for"
	c.Open = func(ctx context.Context, addr string) (Client, error) {
		var servers rawRedlock
		for server := range strings.SplitSeq(addr, ",") {
			client, err := openRaw(ctx, server)
			if err != nil {
				return nil, errors.Join(err, servers.Close())
			}
			servers = append(servers, client)
		}
		return servers, nil
	}
	return c
}

// rawRedlock are clients of one server each.
type rawRedlock []Client

// Lock leaves what comes after the majority to Unlock, which waits for it in the background.
func (r rawRedlock) Lock(ctx context.Context, name string) (Held, error) {
	held := make(rawRedlockHeld, len(r))
	for i := range held {
		held[i].done = make(chan struct{})
	}
	return held, majority(len(r), func(i int) (err error) {
		defer close(held[i].done)
		held[i].lock, err = r[i].Lock(ctx, name)
		return err
	})
}

func (r rawRedlock) Close() (err error) {
	for _, client := range r {
		err = errors.Join(err, client.Close())
	}
	return err
}

type rawRedlockHeld []struct {
	lock Held
	done chan struct{} // closed when it is known whether there is a lock
}

func (h rawRedlockHeld) Unlock(ctx context.Context) error {
	return majority(len(h), func(i int) error {
		<-h[i].done
		if h[i].lock == nil {
			return errRawGone
		}
		return h[i].lock.Unlock(ctx)
	})
}

// majority does something n times at once, and returns when most of them have succeeded or too many have failed.
func majority(n int, do func(int) error) error {
	results := make(chan error, n)
	for i := range n {
		go func() { results <- do(i) }()
	}
	succeeded := 0
	var errs []error
	for succeeded <= n/2 && len(errs) <= (n-1)/2 {
		if err := <-results; err != nil {
			errs = append(errs, err)
			continue
		}
		succeeded++
	}
	if succeeded > n/2 {
		return nil
	}
	return errors.Join(errs...)
}
