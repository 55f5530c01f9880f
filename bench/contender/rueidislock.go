package contender

import (
	"context"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// Rueidislock is rueidis/rueidislock with one key for each lock.
func Rueidislock() Contender {
	return Contender{
		Name:   "rueidislock",
		Module: "github.com/redis/rueidis",
		Note: "KeyMajority 1, since its default takes three keys on the same server; NoLoopTracking, which its " +
			"documentation recommends for speed; " +
			"TryNextAfter 2 s, since then a caller whose answer takes longer than the default of 20 ms may wait for " +
			"ever",
		Waits: true,
		Open:  openRueidislock,

		Protocol: wire.Redis(nil),
	}
}

type rueidislockClient struct{ locker rueidislock.Locker }

func openRueidislock(_ context.Context, addr string) (Client, error) {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{
			InitAddress:         []string{addr},
			ReadBufferEachConn:  bufferSize,
			WriteBufferEachConn: bufferSize,
		},
		KeyValidity:    TTL,
		KeyMajority:    1,
		NoLoopTracking: true,
		TryNextAfter:   2 * time.Second,
	})
	if err != nil {
		return nil, err
	}
	return rueidislockClient{locker}, nil
}

func (c rueidislockClient) Lock(ctx context.Context, name string) (Held, error) {
	_, release, err := c.locker.WithContext(ctx, name)
	if err != nil {
		return nil, err
	}
	return rueidislockHeld(release), nil
}

func (c rueidislockClient) Close() error {
	c.locker.Close()
	return nil
}

// rueidislockHeld releases; that cannot report an error.
type rueidislockHeld context.CancelFunc

func (release rueidislockHeld) Unlock(context.Context) error {
	release()
	return nil
}
