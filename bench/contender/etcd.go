package contender

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/holdfast-go/holdfast/bench/wire"
)

const etcdModule = "go.etcd.io/etcd/client/v3"

// RawEtcd is the limit: the two transactions that any lock on etcd needs, with nothing around them. It keeps no queue
// and cannot wait.
func RawEtcd() Contender {
	return Contender{
		Name:   "raw",
		Module: etcdModule,
		Note: "a transaction that puts a key on a lease unless it is there, then one that deletes it if it is the " +
			"same; on the client that Holdfast uses",
		Open:     openRawEtcd,
		Protocol: wire.Etcd(),
	}
}

// EtcdMutex is the lock that etcd publishes with its client.
func EtcdMutex() Contender {
	return Contender{
		Name:   "concurrency.Mutex",
		Module: etcdModule,
		Note:   "a session for each client, with its default TTL of 60 s; a mutex for each acquisition",
		Waits:  true,
		Open: func(_ context.Context, addr string) (Client, error) {
			s, err := newEtcdSession(addr)
			if err != nil {
				return nil, err
			}
			return etcdMutexClient{s}, nil
		},
		Protocol: wire.Etcd(),
	}
}

// An etcdSession is a connection and a lease that is kept alive.
type etcdSession struct {
	client  *clientv3.Client
	session *concurrency.Session
}

func newEtcdSession(addr string) (etcdSession, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, Logger: zap.NewNop()})
	if err != nil {
		return etcdSession{}, err
	}
	session, err := concurrency.NewSession(client, concurrency.WithTTL(int(SessionTTL.Seconds())))
	if err != nil {
		_ = client.Close()
		return etcdSession{}, err
	}
	return etcdSession{client, session}, nil
}

func (s etcdSession) Close() error {
	err := s.session.Close()
	if closeErr := s.client.Close(); err == nil {
		err = closeErr
	}
	return err
}

type etcdMutexClient struct{ etcdSession }

func (c etcdMutexClient) Lock(ctx context.Context, name string) (Held, error) {
	m := concurrency.NewMutex(c.session, name)
	if err := m.Lock(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

type rawEtcd struct{ etcdSession }

func openRawEtcd(_ context.Context, addr string) (Client, error) {
	s, err := newEtcdSession(addr)
	if err != nil {
		return nil, err
	}
	return rawEtcd{s}, nil
}

func (r rawEtcd) Lock(ctx context.Context, name string) (Held, error) {
	answer, err := r.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(name), "=", 0)).
		Then(clientv3.OpPut(name, "", clientv3.WithLease(r.session.Lease()))).
		Commit()
	switch {
	case err != nil:
		return nil, err
	case !answer.Succeeded:
		return nil, errRawTaken
	}
	return rawEtcdHeld{r.client, name, answer.Header.Revision}, nil
}

type rawEtcdHeld struct {
	client   *clientv3.Client
	name     string
	revision int64
}

func (h rawEtcdHeld) Unlock(ctx context.Context) error {
	answer, err := h.client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(h.name), "=", h.revision)).
		Then(clientv3.OpDelete(h.name)).
		Commit()
	if err == nil && !answer.Succeeded {
		err = errRawGone
	}
	return err
}
