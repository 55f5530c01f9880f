package contender

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/holdfast-go/holdfast/bench/wire"
)

const zkModule = "github.com/go-zookeeper/zk"

// RawZooKeeper is the limit: the two requests that any lock on ZooKeeper needs, with nothing around them. It keeps no
// queue and cannot wait.
func RawZooKeeper() Contender {
	return Contender{
		Name:     "raw",
		Module:   zkModule,
		Note:     "create an ephemeral node, then delete it; on the client that Holdfast uses",
		Open:     openRawZooKeeper,
		Protocol: wire.ZooKeeper(nil),
	}
}

// ZooKeeperLock is the lock that go-zookeeper publishes with its client.
func ZooKeeperLock() Contender {
	return Contender{
		Name:     "zk.Lock",
		Module:   zkModule,
		Note:     "a session of 60 s for each client",
		Waits:    true,
		Open:     openZooKeeperLock,
		Protocol: wire.ZooKeeper(nil),
	}
}

var everybody = zk.WorldACL(zk.PermAll)

// dialZooKeeper returns once there is a session. Requests that are made before fail when the first attempt to connect
// does, as it may where many connect at once.
func dialZooKeeper(ctx context.Context, addr string) (*zk.Conn, error) {
	session := make(chan struct{}, 1)
	conn, _, err := zk.Connect([]string{addr}, SessionTTL, zk.WithLogger(silent{}), zk.WithLogInfo(false),
		zk.WithEventCallback(func(e zk.Event) {
			if e.State == zk.StateHasSession {
				select {
				case session <- struct{}{}:
				default:
				}
			}
		}))
	if err != nil {
		return nil, err
	}
	select {
	case <-session:
		return conn, nil
	case <-ctx.Done():
		conn.Close()
		return nil, ctx.Err()
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

type rawZooKeeper struct{ conn *zk.Conn }

func openRawZooKeeper(ctx context.Context, addr string) (Client, error) {
	conn, err := dialZooKeeper(ctx, addr)
	return rawZooKeeper{conn}, err
}

func (r rawZooKeeper) Lock(_ context.Context, name string) (Held, error) {
	path, err := r.conn.Create("/"+name, nil, zk.FlagEphemeral, everybody)
	if errors.Is(err, zk.ErrNodeExists) {
		err = errRawTaken
	}
	return rawZooKeeperHeld{r.conn, path}, err
}

func (r rawZooKeeper) Close() error {
	r.conn.Close()
	return nil
}

type rawZooKeeperHeld struct {
	conn *zk.Conn
	path string
}

func (h rawZooKeeperHeld) Unlock(context.Context) error { return h.conn.Delete(h.path, -1) }

type zooKeeperLock struct{ conn *zk.Conn }

func openZooKeeperLock(ctx context.Context, addr string) (Client, error) {
	conn, err := dialZooKeeper(ctx, addr)
	return zooKeeperLock{conn}, err
}

// Lock cannot be told to stop waiting. It does when the client is closed; should it get the lock before that, the lock
// goes with the session.
func (c zooKeeperLock) Lock(ctx context.Context, name string) (Held, error) {
	l := zk.NewLock(c.conn, "/"+name, everybody)
	locked := make(chan error, 1)
	go func() { locked <- l.Lock() }() // ends with the connection at the latest
	select {
	case err := <-locked:
		return zooKeeperHeld{l}, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c zooKeeperLock) Close() error {
	c.conn.Close()
	return nil
}

type zooKeeperHeld struct{ lock *zk.Lock }

func (h zooKeeperHeld) Unlock(context.Context) error { return h.lock.Unlock() }
