package classic

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// OneKey is how locks were made with etcd's second version: create the key if it is not there (prevExist), with a
// time to live (ttl) that the holder refreshes, and wait for its changes (wait) otherwise. It assumes that few wait.
// It breaks with many: each release wakes all of them, and all try.
type OneKey struct {
	Client *clientv3.Client
	Key    string
	Lease  clientv3.LeaseID // kept alive by whoever made it

	Watching func() // is called whenever it watches, if it is there
}

// Lock waits until the lock is ours.
func (l OneKey) Lock(ctx context.Context) error {
	for {
		created, err := l.Client.Txn(ctx).
			If(clientv3.Compare(clientv3.CreateRevision(l.Key), "=", 0)).
			Then(clientv3.OpPut(l.Key, "", clientv3.WithLease(l.Lease))).
			Commit()
		if err != nil || created.Succeeded {
			return err
		}
		if err := l.wait(ctx, created.Header.Revision); err != nil {
			return err
		}
	}
}

// wait returns when the key has changed after a revision.
func (l OneKey) wait(ctx context.Context, revision int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := l.Client.Watch(ctx, l.Key, clientv3.WithRev(revision+1), clientv3.WithCreatedNotify())
	for answer := range events {
		if err := answer.Err(); err != nil {
			return err
		}
		if answer.Created {
			if l.Watching != nil {
				l.Watching()
			}
			continue
		}
		return nil
	}
	return ctx.Err()
}

// Unlock gives it back.
func (l OneKey) Unlock(ctx context.Context) error {
	_, err := l.Client.Delete(ctx, l.Key)
	return err
}
